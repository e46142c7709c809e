// Who makes a call, as far as the daemon can tell clients apart: for fairness between them, never
// for rights. Pure function; any thread.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace normd {

// The address, which over a Unix socket is the same for all, and what the client calls itself:
// those of this project name their process (service/client/channel.cc).
std::string caller_of(const grpc::ServerContextBase& context);

}  // namespace normd
