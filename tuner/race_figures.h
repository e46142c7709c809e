// From a race's intervals to what is stored of one that raced. Pure function; any thread.
#pragma once

#include <vector>

#include "tuner/measured_edge.h"
#include "tuner/race.h"

namespace normd {

// One measurement per edge, with the control copy's beside it. The number has raced.
std::vector<Measurement> measurements_of(const Race& race, int number,
                                         const std::vector<MeasuredEdge>& edges);

}  // namespace normd
