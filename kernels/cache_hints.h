// The axis x_evict_last: whether lines of x are the last that the L2 cache gives up. Lines of y are
// then the first, and written back in the order in which they were written, instead of here and
// there among those of x: faster from some times the cache on. Below, x only takes up room. Pure
// functions; any thread.
#pragma once

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/problem.h"

namespace normd {

// What x and y take together, in multiples of the L2 cache; 0 where the device has none.
double x_and_y_in_caches(const Problem& problem, const DeviceSpec& spec);

Axis x_evict_last_axis(const DeviceSpec& spec);

// Whether this candidate's choice is the one that pays for so many rows.
bool x_evict_last_pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);

}  // namespace normd
