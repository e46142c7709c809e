// Running another program to its end: no shell, nothing inherited but the environment, its words
// kept, and never longer than a limit. It writes to a TemporaryDirectory.
// Plain functions; any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/error.h"

namespace normd {

struct ChildProgram {
  std::vector<std::string> command;  // the program, looked for on PATH, and its arguments
  std::filesystem::path directory;   // where it runs and keeps its own temporary files
  std::chrono::milliseconds limit{};
};

struct ProgramEnd {
  int exit_code = 0;  // -1: a signal ended it
  int signal = 0;
  std::string output;  // both its streams, in the order of arrival; a long one is cut
};

// not_found: the program cannot be started. deadline_exceeded: it ran into the limit, and it and
// all its children were killed.
Result<ProgramEnd> run_to_end(const ChildProgram& program);

}  // namespace normd
