// The handler of Tune: one tuning, with its progress as a stream. Called on a thread of gRPC and
// never blocks; messages are written as the tuning goes.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

namespace normd {

class Core;

grpc::ServerWriteReactor<grpc::ByteBuffer>* tune(Core& core, grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request);

}  // namespace normd
