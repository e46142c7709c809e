// The axis x_evict_last: whether the L2 cache keeps lines of x longer than others, which then are
// lines of y that are soon written back. Worth it for tensors that no cache holds. Pure functions;
// any thread.
#pragma once

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/problem.h"
#include "kernels/template.h"

namespace normd {

Axis x_evict_last_axis(const DeviceSpec& spec);

// Whether this candidate's choice is the one that pays for so many rows.
bool x_evict_last_pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);

}  // namespace normd
