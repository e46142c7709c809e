// ExitCode: what normd's exit status means. Documented in --help; a supervisor restarts only what
// can get better by restarting. Constants only.
#pragma once

namespace normd {

enum class ExitCode : int {
  stopped = 0,          // asked to stop, and did
  internal = 1,         // a fault of ours or of the system below
  usage = 2,            // a flag or a line of the configuration file is wrong
  already_running = 3,  // another daemon has the socket or the port
  no_device = 4,        // no GPU, or one that was named is not there or computes wrongly
  place_unusable = 5,   // the socket or the store cannot be where it should be
  device_lost = 6,      // the driver gave the device up while serving
};

// Restarting does not help against what a person has to repair.
constexpr bool worth_restarting(int exit_status) {
  return exit_status != static_cast<int>(ExitCode::stopped) &&
         exit_status != static_cast<int>(ExitCode::usage) &&
         exit_status != static_cast<int>(ExitCode::already_running) &&
         exit_status != static_cast<int>(ExitCode::no_device) &&
         exit_status != static_cast<int>(ExitCode::place_unusable);
}

}  // namespace normd
