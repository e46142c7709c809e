#include "service/client/places.h"

namespace normd {
namespace {

constexpr char socket_name[] = "/normd/normd.sock";

std::string absolute_or_empty(std::string path) {
  return !path.empty() && path.front() == '/' ? path : std::string();
}

}  // namespace

PlaceVariables read_place_variables(const std::function<const char*(const char*)>& get_variable) {
  const auto text = [&](const char* name) {
    const char* value = get_variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {.normd_socket = text("NORMD_SOCKET"),
          .normd_store = text("NORMD_STORE"),
          .xdg_runtime_dir = absolute_or_empty(text("XDG_RUNTIME_DIR")),
          .xdg_cache_home = absolute_or_empty(text("XDG_CACHE_HOME")),
          .home = absolute_or_empty(text("HOME"))};
}

std::vector<Place> socket_places(const std::string& flag, const PlaceVariables& variables) {
  if (!flag.empty()) return {{flag, "--socket"}};
  if (!variables.normd_socket.empty()) return {{variables.normd_socket, "NORMD_SOCKET"}};
  std::vector<Place> places;
  if (!variables.xdg_runtime_dir.empty()) {
    places.push_back({variables.xdg_runtime_dir + socket_name, "XDG_RUNTIME_DIR"});
  }
  places.push_back({std::string("/run") + socket_name, "built in"});
  return places;
}

Place store_place(const std::string& flag, const PlaceVariables& variables) {
  if (!flag.empty()) return {flag, "--store"};
  if (!variables.normd_store.empty()) return {variables.normd_store, "NORMD_STORE"};
  if (!variables.xdg_cache_home.empty()) {
    return {variables.xdg_cache_home + "/normd", "XDG_CACHE_HOME"};
  }
  if (!variables.home.empty()) return {variables.home + "/.cache/normd", "HOME"};
  return {"/var/lib/normd", "built in"};
}

std::string turn_directory(unsigned user) {
  return "/tmp/normd-turn-" + std::to_string(user);
}

}  // namespace normd
