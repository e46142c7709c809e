// Server: gRPC with our services, fed with connections by the accept loop. It binds nothing itself.
// Made and stopped by main; take_connection() may be called from any thread.
#pragma once

#include <chrono>
#include <memory>

#include "kernels/error.h"

namespace normd {

class Core;

class Server {
 public:
  static Result<Server> start(Core& core);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();

  // Hands an accepted connection over; gRPC closes it.
  void take_connection(int descriptor, int listener);

  // What grpc.health.v1 answers, for the whole server and for normd.v1.Normd.
  void set_health(bool serving);

  // Lets calls end by themselves until the grace is over; then they get UNAVAILABLE.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace normd
