#include "service/client/run_wire.h"

#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

namespace normd {
namespace {

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

TEST(RunWire, the_message_is_what_protobuf_would_have_written) {
  for (const std::size_t count : {0, 1, 31, 32, 4095, 4096, 1'000'000}) {
    const std::vector<float> x(count, 1.5f);
    const std::vector<float> beta = {1, 2, 3};
    const RunCall call{
        .rows = 1,
        .columns = static_cast<std::int64_t>(count),
        .x = {.elements = x.data(), .count = static_cast<std::int64_t>(count)},
        .beta = {.elements = beta.data(), .count = 3},
        .epsilon = 0.25f,
        .device = "0",
    };
    const Result<grpc::ByteBuffer> message = run_message(call);
    ASSERT_TRUE(message);
    v1::RunRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes_of(*message)));
    EXPECT_EQ(request.x().size(), count * 4);
    EXPECT_EQ(request.x(), std::string(reinterpret_cast<const char*>(x.data()), count * 4));
    EXPECT_EQ(request.beta().size(), 12u);
    EXPECT_EQ(request.problem().beta_dtype(), v1::DTYPE_FP32);
    EXPECT_EQ(request.epsilon(), 0.25f);
    EXPECT_EQ(bytes_of(*message), request.SerializeAsString());
  }
}

TEST(RunWire, counts_that_no_memory_holds_are_refused) {
  const float x = 0;
  EXPECT_FALSE(run_message({.x = {.elements = &x, .count = -1}}));
  EXPECT_FALSE(run_message({.x = {.elements = &x, .count = std::int64_t{1} << 62}}));
  EXPECT_FALSE(run_message({.x = {.elements = nullptr, .count = 4}}));
}

}  // namespace
}  // namespace normd
