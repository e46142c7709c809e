#include "service/daemon/accept_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "kernels/check.h"

namespace normd {
namespace {

// How long accepting rests when the process is out of descriptors.
constexpr std::chrono::milliseconds rest{100};

bool out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

bool peer_allowed(unsigned peer_uid, unsigned own_uid) {
  return peer_uid == own_uid || peer_uid == 0;
}

void OpenConnections::add(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0) inode_by_descriptor_[descriptor] = status.st_ino;
}

int OpenConnections::count() {
  std::erase_if(inode_by_descriptor_, [](const auto& entry) {
    struct stat status {};
    return fstat(entry.first, &status) != 0 || !S_ISSOCK(status.st_mode) ||
           status.st_ino != entry.second;
  });
  return static_cast<int>(inode_by_descriptor_.size());
}

AcceptLoop::AcceptLoop(Parts parts)
    : parts_(std::move(parts)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](std::stop_token stop) { work(std::move(stop)); }) {
  NORMD_CHECK(wake_);
}

AcceptLoop::~AcceptLoop() {
  thread_.request_stop();
  eventfd_write(wake_.get(), 1);
}

void AcceptLoop::work(std::stop_token stop) {
  std::vector<pollfd> polled{{.fd = wake_.get(), .events = POLLIN}};
  for (const int listener : parts_.listeners) polled.push_back({.fd = listener, .events = POLLIN});
  bool resting = false;
  while (!stop.stop_requested()) {
    // While it rests, only the wake-up is watched.
    const auto watched = static_cast<nfds_t>(resting ? 1 : polled.size());
    poll(polled.data(), watched, resting ? static_cast<int>(rest.count()) : -1);
    if (resting) {
      resting = false;
      continue;
    }
    for (std::size_t i = 1; i < polled.size() && !stop.stop_requested(); ++i) {
      if ((polled[i].revents & POLLIN) != 0 && !accept_one(polled[i].fd)) resting = true;
    }
  }
}

bool AcceptLoop::accept_one(int listener) {
  Descriptor connection(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!connection) {
    if (!out_of_descriptors(errno)) return true;  // the peer left again: nothing to do
    parts_.log->warning("accept_rests",
                        {{"reason", std::strerror(errno)}, {"rest_ms", rest.count()}});
    return false;
  }
  if (!admitted(connection.get())) {
    ++refused_;
    return true;  // closing is the answer
  }
  open_.add(connection.get());
  parts_.take(connection.release(), listener);
  return true;
}

bool AcceptLoop::admitted(int descriptor) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  int domain = 0;
  socklen_t domain_bytes = sizeof(domain);
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &domain_bytes);
  if (domain == AF_UNIX) {
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
        !peer_allowed(peer.uid, geteuid())) {
      parts_.log->warning("connection_refused", {{"reason", "another user"}, {"uid", peer.uid}});
      return false;
    }
  }
  if (open_.count() >= parts_.connections_max) {
    parts_.log->warning("connection_refused", {{"reason", "connections_max"},
                                               {"connections_max", parts_.connections_max}});
    return false;
  }
  return true;
}

}  // namespace normd
