#include "service/daemon/wire_bytes.h"

#include <grpcpp/support/slice.h>

#include "kernels/check.h"

namespace normd {

grpc::ByteBuffer serialize(const google::protobuf::MessageLite& message) {
  const std::size_t bytes = message.ByteSizeLong();
  grpc::Slice slice(bytes);
  const bool written =
      message.SerializeToArray(const_cast<std::uint8_t*>(slice.begin()), static_cast<int>(bytes));
  NORMD_CHECK(written);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace normd
