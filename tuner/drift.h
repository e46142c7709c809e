// Drift: whether a winner takes another time than when it was found. Compared is its time over that
// of the control copy beside it, which takes out the clocks that both have in common. Pure
// functions and a plain value; any thread.
#pragma once

#include <string>
#include <vector>

#include "tuner/measured_edge.h"

namespace normd {

// At one edge: times over the copy's.
struct Drift {
  std::int64_t rows = 0;
  CacheState cache = CacheState::cold;
  double before = 0;
  double now = 0;

  bool operator==(const Drift&) const = default;
};

inline constexpr double drift_min = 0.05;

// At the edges that decide, changes of more than drift_min where the intervals do not meet either.
// An edge that was not measured, or without its copy, says nothing.
std::vector<Drift> find_drifts(const std::vector<Measurement>& stored,
                               const std::vector<Measurement>& now,
                               const std::vector<MeasuredEdge>& edges);

std::string to_text(const Drift& drift);  // "rows=132 cache=cold 1.040 -> 1.120 of a copy"

// What one check after the other says of one winner.
class Suspicion {
 public:
  // True: confirmed, for two checks in a row saw an edge drift the same way. Then it begins anew.
  bool confirm(const std::vector<Drift>& drifts);
  bool exists() const { return !seen_.empty(); }

 private:
  std::vector<Drift> seen_;  // by the last check
};

}  // namespace normd
