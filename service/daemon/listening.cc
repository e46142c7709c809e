#include "service/daemon/listening.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace normd {
namespace {

constexpr int backlog = 128;

tl::unexpected<StartFailure> refuse(ExitCode exit_code, std::string message) {
  return fail_start(exit_code, {ErrorCode::failed_precondition, std::move(message), "socket"});
}

tl::unexpected<StartFailure> refuse_errno(ExitCode exit_code, const std::string& tried) {
  return refuse(exit_code, tried + ": " + std::strerror(errno));
}

// The directory is created private and must be one that nobody else can put a socket into.
Started<void> prepare_directory(const std::string& directory) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(directory).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return refuse_errno(ExitCode::place_unusable,
                        "the socket's directory " + directory +
                            " cannot be made (choose another with --socket or NORMD_SOCKET)");
  }
  struct stat status {};
  if (lstat(directory.c_str(), &status) != 0) {
    return refuse_errno(ExitCode::place_unusable, "the socket's directory " + directory);
  }
  if (!S_ISDIR(status.st_mode)) {
    return refuse(ExitCode::place_unusable,
                  "the socket's directory " + directory + " is a link or no directory");
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return refuse(ExitCode::place_unusable, "the socket's directory " + directory +
                                                " belongs to another user (uid " +
                                                std::to_string(status.st_uid) + ")");
  }
  if ((status.st_mode & 0022) != 0) {
    return refuse(ExitCode::place_unusable,
                  "others can write in the socket's directory " + directory +
                      ": give the socket a directory of its own, or chmod go-w this one");
  }
  return {};
}

Started<Descriptor> take_lock(const std::string& path) {
  Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return refuse_errno(ExitCode::place_unusable, "the lock file " + path);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return refuse_errno(ExitCode::place_unusable, "locking " + path);
  return refuse(ExitCode::already_running, "already running: another normd holds " + path);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Started<UnixListener> UnixListener::bind(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return refuse(ExitCode::usage, "a Unix socket path holds " +
                                       std::to_string(sizeof(address.sun_path) - 1) +
                                       " bytes, and this has " + std::to_string(path.size()));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (auto directory = prepare_directory(directory_of(path)); !directory) {
    return tl::unexpected(std::move(directory.error()));
  }
  auto lock = take_lock(path + ".lock");
  if (!lock) return tl::unexpected(std::move(lock.error()));

  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return refuse_errno(ExitCode::place_unusable, "a Unix socket");
  struct stat left {};
  // With the lock held, a socket that is still there belongs to nobody who lives.
  if (lstat(path.c_str(), &left) == 0) {
    if (!S_ISSOCK(left.st_mode)) {
      return refuse(ExitCode::place_unusable, path + " is there and is no socket");
    }
    unlink(path.c_str());
  }
  const mode_t before = umask(0177);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
                           static_cast<socklen_t>(sizeof(address)));
  umask(before);
  if (bound != 0) return refuse_errno(ExitCode::place_unusable, "binding " + path);
  if (listen(listener.get(), backlog) != 0) {
    return refuse_errno(ExitCode::place_unusable, "listening on " + path);
  }
  return UnixListener(path, std::move(*lock), std::move(listener));
}

UnixListener::~UnixListener() {
  if (socket_) unlink(path_.c_str());
}

Started<TcpListener> listen_tcp(const ListenAddress& address) {
  const bool six = address.host.find(':') != std::string::npos;
  sockaddr_in6 six_address{.sin6_family = AF_INET6,
                           .sin6_port = htons(static_cast<std::uint16_t>(address.port)),
                           .sin6_addr = in6addr_loopback};
  sockaddr_in four_address{.sin_family = AF_INET,
                           .sin_port = htons(static_cast<std::uint16_t>(address.port)),
                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
  auto* const raw =
      six ? reinterpret_cast<sockaddr*>(&six_address) : reinterpret_cast<sockaddr*>(&four_address);
  socklen_t bytes = six ? sizeof(six_address) : sizeof(four_address);
  const std::string name = address.host + " port " + std::to_string(address.port);

  Descriptor listener(socket(raw->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return refuse_errno(ExitCode::place_unusable, "TCP on " + name);
  // A restart may bind at once; two living listeners on one port stay impossible.
  const int one = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (::bind(listener.get(), raw, bytes) != 0 || listen(listener.get(), backlog) != 0) {
    return refuse_errno(errno == EADDRINUSE ? ExitCode::already_running : ExitCode::place_unusable,
                        "listening on " + name);
  }
  if (getsockname(listener.get(), raw, &bytes) != 0) {
    return refuse_errno(ExitCode::internal, "reading the port of " + name);
  }
  return TcpListener{std::move(listener),
                     ntohs(six ? six_address.sin6_port : four_address.sin_port)};
}

}  // namespace normd
