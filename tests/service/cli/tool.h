// Runs normctl as a function: arguments in, output and exit status out. The surroundings are those
// of a pipe without any environment, unless a test changes them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "service/cli/command_line.h"

namespace normd {

struct ToolRun {
  ExitStatus status = ExitStatus::ok;
  std::string out;
  std::string err;
};

struct Tool {
  Surroundings surroundings;
  std::string input;

  ToolRun operator()(const std::vector<std::string>& arguments) const {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const ExitStatus status = run_command_line(arguments, surroundings, {in, out, err});
    return {.status = status, .out = out.str(), .err = err.str()};
  }
};

}  // namespace normd
