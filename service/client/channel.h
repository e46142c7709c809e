// How this project's clients set a gRPC channel up: retries, reconnection, message size. The
// channel itself is shared by all threads of a process. Nothing here sends a request.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "kernels/error.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace normd {

// "unix:/run/normd/normd.sock" for a path, "dns:///localhost:7000" for host:port, other schemes as
// they are. invalid_argument for what is none of these, and for a path too long for a socket.
Result<std::string> grpc_target(const std::string& target);

std::shared_ptr<grpc::Channel> make_channel(const std::string& grpc_target);

struct Patience {
  std::chrono::milliseconds time{1'000};
  bool through_refusals = false;  // a refused connection is tried again until the time is over
};

// Waits until the channel is connected. The Error (unavailable) says what is at the target instead.
Result<void> wait_until_connected(grpc::Channel& channel, const std::string& grpc_target,
                                  const Patience& patience);

}  // namespace normd
