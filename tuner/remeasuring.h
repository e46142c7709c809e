// Measuring a stored winner again, alone beside the control copy, by the protocol of the race. On
// the thread that owns the worker; it compiles, checks and stores nothing.
#pragma once

#include <stop_token>
#include <vector>

#include "tuner/store/store.h"
#include "tuner/trial_worker.h"

namespace normd {

// One measurement per edge of the key. It lasts a second, or six rounds where those take longer,
// and ends within a moment of a stop. unavailable: stopped, or something else used the device; any
// other error is the worker's. Neither says anything of the winner.
Result<std::vector<Measurement>> remeasure(TrialWorker& worker, const DeviceSpec& spec,
                                           const Winner& winner, const Binary& binary,
                                           const std::stop_token& stop);

}  // namespace normd
