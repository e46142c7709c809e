// Places: where the socket and the store are. The daemon, the tool and the client library all find
// them here, so that they agree without being told. Pure functions over values that main read from
// its environment; nothing here opens, creates or connects. Any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace normd {

// The environment variables that places depend on; empty where unset.
struct PlaceVariables {
  std::string normd_socket;
  std::string normd_store;
  std::string xdg_runtime_dir;
  std::string xdg_cache_home;
  std::string home;
};

// For main: `read_place_variables(std::getenv)`. Directories that are not absolute are ignored, as
// the XDG specification asks.
PlaceVariables read_place_variables(const std::function<const char*(const char*)>& get_variable);

struct Place {
  std::string path;
  std::string from;  // who said so: "--socket", "NORMD_SOCKET", "XDG_RUNTIME_DIR", "built in", ...

  bool operator==(const Place&) const = default;
};

// All places a socket may be in, best first: the flag or the variable alone if given, else
// $XDG_RUNTIME_DIR/normd/normd.sock and /run/normd/normd.sock. The daemon binds the first; a client
// connects to the first that exists.
std::vector<Place> socket_places(const std::string& flag, const PlaceVariables& variables);

// The store's directory when no running daemon says otherwise: the flag, NORMD_STORE,
// $XDG_CACHE_HOME/normd, $HOME/.cache/normd, and /var/lib/normd for a service without a home.
Place store_place(const std::string& flag, const PlaceVariables& variables);

// Where the locks of devices are (tuner/device/device_turn.h): shared by all programs of one user
// on a host, wherever their sockets are, so that they measure and serve in turns.
std::string turn_directory(unsigned user);

}  // namespace normd
