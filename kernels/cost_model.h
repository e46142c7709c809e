// The cost model: an estimate of a candidate's time from numbers alone, good enough to try the
// promising candidates first. Pure functions; any thread.
#pragma once

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/problem.h"

namespace normd {

// Estimated nanoseconds; only the order matters. Bytes moved over the memory rate, lengthened when
// too few bytes are in flight or blocks fill the device unevenly, plus the latency of the plan's
// dependent steps.
double estimated_ns(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);

// The copy limit by the data sheet: useful bytes over the memory rate.
double copy_limit_ns(const Problem& problem, const DeviceSpec& spec);

}  // namespace normd
