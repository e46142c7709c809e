// The handler of Run: validates, has the device answer, sends the tensors back. Called on a thread
// of gRPC and never blocks; the answer is given from the thread that served it.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

namespace normd {

class Core;

grpc::ServerUnaryReactor* run(Core& core, grpc::CallbackServerContext* context,
                              const grpc::ByteBuffer* request, grpc::ByteBuffer* response);

}  // namespace normd
