// LongRace: candidates of one key measured in turns for much longer than a tuning has, none of
// which leaves: what a study takes for the truth about winners that tunings found. One thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/scratch_tuner.h"
#include "tuner/measured_edge.h"
#include "tuner/statistics.h"

namespace normd {

struct Racer {
  Candidate candidate;
  Binary binary;
};

// The candidates with these texts: their binaries from the store of a tuning of them all, or made
// now where its budget ended before them.
Result<std::vector<Racer>> racers_of(const StudyDevice& device, Store& store,
                                     const Problem& problem, const Tuning& all,
                                     const std::set<std::string>& texts);

struct LongRace {
  std::vector<MeasuredEdge> edges;
  std::vector<std::vector<Interval>> times;  // of each racer at each edge, in ns
  std::vector<double> copy_ns;               // at each edge
};

// `rounds` samples of each at each edge of the key's bucket. Errors as of a tuning's race.
Result<LongRace> long_race(const StudyDevice& device, const Key& key,
                           const std::vector<Racer>& racers, int rounds);

}  // namespace normd
