// Listening: the daemon's listening sockets and the lock that makes it the only one on its path.
// Made by main before any thread; the accept loop reads the descriptors. It does not accept.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "service/daemon/config.h"
#include "service/daemon/descriptor.h"
#include "service/daemon/exit_code.h"

namespace normd {

// What went wrong and what the process ends with because of it.
struct StartFailure {
  ExitCode exit_code = ExitCode::internal;
  Error error;
};
template <typename T>
using Started = tl::expected<T, StartFailure>;

inline tl::unexpected<StartFailure> fail_start(ExitCode exit_code, Error error) {
  return tl::unexpected<StartFailure>(StartFailure{exit_code, std::move(error)});
}

// A bound Unix socket. Removes the file when it goes; the lock is held until after that.
class UnixListener {
 public:
  // Creates the directory (0700) if missing. Refuses a directory that is a symbolic link, that
  // belongs to somebody else or that others may write in; refuses while another process holds the
  // lock beside the socket.
  static Started<UnixListener> bind(const std::string& path);
  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) noexcept = default;
  ~UnixListener();

  int descriptor() const { return socket_.get(); }

 private:
  UnixListener(std::string path, Descriptor lock, Descriptor socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}
  std::string path_;
  Descriptor lock_;
  Descriptor socket_;
};

// The port is shared with nobody: a second daemon on it is an error, never a second listener.
struct TcpListener {
  Descriptor socket;
  int port = 0;  // the real one
};
Started<TcpListener> listen_tcp(const ListenAddress& address);

}  // namespace normd
