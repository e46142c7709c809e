#include "service/client/channel.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <string_view>

#include "kernels/limits.h"

namespace normd {
namespace {

// Run and the reading calls may be sent twice without harm; Forget and Tune may not be repeated
// unasked. Only UNAVAILABLE is retried: it is what a restarting daemon gives.
constexpr const char* service_config = R"({
  "methodConfig": [{
    "name": [
      {"service": "normd.v1.Normd", "method": "Run"},
      {"service": "normd.v1.Normd", "method": "ListWinners"},
      {"service": "normd.v1.Normd", "method": "Explain"},
      {"service": "normd.v1.Normd", "method": "GetStatus"}
    ],
    "retryPolicy": {
      "maxAttempts": 4,
      "initialBackoff": "0.05s",
      "maxBackoff": "0.5s",
      "backoffMultiplier": 2,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
})";

// Room for the message itself and gRPC's own framing: a larger call would not be retried.
constexpr int retry_buffer_bytes = static_cast<int>(limits::message_bytes_max) + (1 << 20);

std::string nothing_there(const std::string& target) {
  constexpr std::string_view scheme = "unix:";
  if (!target.starts_with(scheme)) return "";
  const std::string path = target.substr(scheme.size());
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return ": no file is there";
  if (!S_ISSOCK(status.st_mode)) return ": the file there is no socket";
  return ": the socket is there, but nothing listens on it or it may not be opened";
}

}  // namespace

Result<std::string> grpc_target(const std::string& target) {
  if (target.empty()) {
    return fail(ErrorCode::invalid_argument, "the daemon's address is empty", "socket");
  }
  const bool has_scheme = target.starts_with("unix:") || target.starts_with("dns:") ||
                          target.starts_with("ipv4:") || target.starts_with("ipv6:");
  const bool is_path = target.find('/') != std::string::npos;
  if (!has_scheme && !is_path && target.find(':') == std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                "\"" + target + "\" is neither the path of a socket (with a '/') nor host:port",
                "socket");
  }
  std::string full = target;
  if (!has_scheme) full = (is_path ? "unix:" : "dns:///") + target;
  constexpr std::size_t path_bytes_max = sizeof(sockaddr_un{}.sun_path) - 1;
  if (full.starts_with("unix:") && full.size() - 5 > path_bytes_max) {
    return fail(ErrorCode::invalid_argument,
                "the socket path " + target + " is longer than " + std::to_string(path_bytes_max) +
                    " bytes, which is all a socket address holds",
                "socket");
  }
  return full;
}

std::shared_ptr<grpc::Channel> make_channel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(limits::message_bytes_max));
  arguments.SetMaxSendMessageSize(static_cast<int>(limits::message_bytes_max));
  arguments.SetServiceConfigJSON(service_config);
  // Over a Unix socket the daemon cannot tell its clients apart by anything else.
  arguments.SetUserAgentPrefix("normd/" + std::to_string(::getpid()));
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 1);
  arguments.SetInt(GRPC_ARG_PER_RPC_RETRY_BUFFER_SIZE, retry_buffer_bytes);
  // A daemon on the same host is back within milliseconds; gRPC's default would wait a second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  // A proxy of the environment must not see a loopback connection.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

Result<void> wait_until_connected(grpc::Channel& channel, const std::string& target,
                                  const Patience& patience) {
  const auto deadline = std::chrono::system_clock::now() + patience.time;
  grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
  while (state != GRPC_CHANNEL_READY) {
    const bool refused = state == GRPC_CHANNEL_TRANSIENT_FAILURE && !patience.through_refusals;
    if (refused || state == GRPC_CHANNEL_SHUTDOWN || !channel.WaitForStateChange(state, deadline)) {
      return fail(ErrorCode::unavailable,
                  "no daemon answers at " + target + nothing_there(target) + "; is normd running?");
    }
    state = channel.GetState(true);
  }
  return {};
}

}  // namespace normd
