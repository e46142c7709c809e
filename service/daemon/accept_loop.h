// AcceptLoop: accepts connections on a thread of its own, decides who may connect, and hands the
// descriptors on. gRPC 1.51's own listener stops for ever the first time that accept meets EMFILE;
// this one backs off and goes on. It never reads from a connection.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "service/daemon/descriptor.h"
#include "service/daemon/log.h"

namespace normd {

// Takes the descriptor over; called on the loop's thread.
using TakeConnection = std::function<void(int descriptor, int listener)>;

// Who may connect over a Unix socket: the daemon's own user and root.
bool peer_allowed(unsigned peer_uid, unsigned own_uid);

// The connections that were handed on and may still be open. Whoever took a descriptor over closes
// it without telling; a descriptor that is closed, or is another file by now, is found by its
// inode.
class OpenConnections {
 public:
  void add(int descriptor);
  int count();  // looks at each of them

 private:
  std::map<int, ino_t> inode_by_descriptor_;
};

class AcceptLoop {
 public:
  struct Parts {
    std::vector<int> listeners;  // outlive the loop
    int connections_max = 0;
    TakeConnection take;
    const Log* log = nullptr;
  };
  explicit AcceptLoop(Parts parts);
  ~AcceptLoop();  // stops accepting, then joins

  std::int64_t refused() const { return refused_; }

 private:
  void work(std::stop_token stop);
  bool accept_one(int listener);  // false: out of descriptors
  bool admitted(int descriptor);

  Parts parts_;
  OpenConnections open_;
  std::atomic<std::int64_t> refused_{0};
  Descriptor wake_;  // an eventfd: tells the loop to look at its stop token
  std::jthread thread_;
};

}  // namespace normd
