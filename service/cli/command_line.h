// The command line of normctl: from arguments to one command's exit status. Tests call it as a
// function. Nothing here reads the environment. One thread.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "service/cli/session.h"

namespace normd {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// `arguments` without the program's name.
ExitStatus run_command_line(const std::vector<std::string>& arguments,
                            const Surroundings& surroundings, Streams streams);

}  // namespace normd
