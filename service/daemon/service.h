// NormdService: the generated service class, wired by hand to the handlers. Every method is raw, so
// that this program and not gRPC decides what malformed bytes are answered with. Called on gRPC's
// threads, which it never blocks: what reads the store goes to the core's control thread.
#pragma once

#include <memory>

namespace grpc {
class Service;
}  // namespace grpc

namespace normd {

class Core;

// The core outlives the service.
std::unique_ptr<grpc::Service> make_normd_service(Core& core);

}  // namespace normd
