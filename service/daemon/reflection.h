// Server reflection, versions v1 and v1alpha, over the descriptors that are linked in. It answers
// callers on a Unix socket and, only if told to, on TCP. Our own, because linking the library's
// version turns reflection on for every server of the program. Called on gRPC's threads.
#pragma once

#include <memory>
#include <vector>

namespace grpc {
class Service;
}  // namespace grpc

namespace normd {

// One service per version of the protocol.
std::vector<std::unique_ptr<grpc::Service>> make_reflection_services(bool answer_tcp);

}  // namespace normd
