// Between a gRPC ByteBuffer and messages. Requests are parsed here rather than by gRPC, because its
// callback server answers UNIMPLEMENTED to bytes that are no message. Pure functions; any thread.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "kernels/error.h"

namespace normd {

// How deep messages may nest; ours are two deep, and unknown fields may be anything.
inline constexpr int message_depth_max = 32;

inline tl::unexpected<Error> malformed() {
  return fail(ErrorCode::invalid_argument, "the request's bytes are not a message of this method",
              "request");
}

template <typename Message>
Result<Message> parse(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer shared(bytes);  // the reader wants a buffer of its own; the bytes are shared
  grpc::ProtoBufferReader reader(&shared);
  if (!reader.status().ok()) return malformed();
  google::protobuf::io::CodedInputStream stream(&reader);
  stream.SetRecursionLimit(message_depth_max);
  Message message;
  if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) return malformed();
  return message;
}

grpc::ByteBuffer serialize(const google::protobuf::MessageLite& message);

}  // namespace normd
