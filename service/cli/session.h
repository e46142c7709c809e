// Session: what every command is given: the streams, what main learned of its surroundings, and the
// flags that all commands share. Commands read nothing else of the process they run in, so that
// tests run them as functions. One thread.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernels/error.h"
#include "service/cli/exit_status.h"
#include "service/client/client.h"
#include "service/client/places.h"

namespace normd {

// What main reads from the environment and the terminal.
struct Surroundings {
  PlaceVariables variables;
  std::string program_directory;  // where normctl itself is; normd is beside it
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool no_color = false;  // NO_COLOR is set
};

struct Session {
  Surroundings surroundings;
  std::istream& in;
  std::ostream& out;   // what was asked for
  std::ostream& err;   // progress, notes and errors
  std::string socket;  // --socket
  std::string store;   // --store
  bool json = false;
  bool verbose = false;

  bool color() const { return surroundings.out_is_terminal && !surroundings.no_color; }
};

// Says on `err` what went wrong, and gives the exit status that goes with it. In JSON, `out` gets
// {"format": 1, "error": {...}} as well.
ExitStatus report(Session& session, const Error& error);

// Prints one JSON object with "format": 1 in front.
void print_json(Session& session, nlohmann::json object);

// A note on `err`, only with -v.
void note(Session& session, const std::string& text);

// Connects to the daemon at --socket, NORMD_SOCKET or the first socket that exists.
Result<Client> connect_daemon(Session& session);

}  // namespace normd
