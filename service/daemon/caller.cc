#include "service/daemon/caller.h"

#include <algorithm>

namespace normd {
namespace {

// More would only fill memory: callers are remembered while tunings wait.
constexpr std::size_t agent_bytes_max = 128;

}  // namespace

std::string caller_of(const grpc::ServerContextBase& context) {
  std::string caller = context.peer();
  const auto& metadata = context.client_metadata();
  if (const auto agent = metadata.find("user-agent"); agent != metadata.end()) {
    const auto& text = agent->second;
    caller += " " + std::string(text.data(), std::min(text.size(), agent_bytes_max));
  }
  return caller;
}

}  // namespace normd
