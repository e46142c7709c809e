// StopPoint: where a kill test wants this process to die. Reaching the named point raises SIGKILL
// on the spot, so that tests can cut a tuning at each step and compare what is left. Without a name
// it does nothing. Plain value, handed down from main; any thread.
#pragma once

#include <csignal>
#include <span>
#include <string>
#include <string_view>

namespace normd {

struct StopPoint {
  std::string name;

  void reach(std::string_view point) const {
    if (!name.empty() && point == name) std::raise(SIGKILL);
  }
};

// Every point, in the order in which a tuning passes them; those beginning with "worker." are in
// the trial or compile process.
inline constexpr std::string_view stop_points[] = {
    "tuning.begun",          "tuning.lease_taken",  "tuning.enumerated",    "tuning.prepared",
    "tuning.compile_asked",  "tuning.compiled",     "tuning.binary_stored", "tuning.gate_asked",
    "tuning.gated",          "tuning.trial_stored", "tuning.explored",      "tuning.race_begun",
    "tuning.race_round",     "tuning.raced",        "tuning.chosen",        "tuning.winner_stored",
    "tuning.lease_released", "worker.compiling",    "worker.compiled",      "worker.preparing",
    "worker.gating",         "worker.gated",        "worker.sampling",
};

}  // namespace normd
