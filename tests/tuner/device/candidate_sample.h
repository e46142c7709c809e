// A seeded choice of candidates, each with the problem it is for, that holds every template, every
// axis value that occurs, every dtype, width and option of a problem at least once per template.
// For test programs only; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/catalog.h"

namespace normd {

struct SampledCandidate {
  Problem problem;  // rows is 0: the test chooses
  Candidate candidate;
};

// Everything enumerated from about `problems` random problems.
std::vector<SampledCandidate> all_candidates(const Template& entry, const DeviceSpec& spec,
                                             std::uint32_t seed, int problems);

// The fewest of `all` that still hold everything that `all` holds, found greedily.
std::vector<SampledCandidate> covering_sample(const std::vector<SampledCandidate>& all);

}  // namespace normd
