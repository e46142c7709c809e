#include "tuner/drift.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace normd {
namespace {

std::optional<Measurement> at_edge(const std::vector<Measurement>& all, const MeasuredEdge& edge) {
  for (const Measurement& one : all) {
    if (one.rows == edge.rows && one.cache == edge.cache && one.median_ns > 0 && one.copy_ns > 0) {
      return one;
    }
  }
  return std::nullopt;
}

bool apart(const Measurement& a, const Measurement& b) {
  return a.high_ns / a.copy_ns < b.low_ns / b.copy_ns ||
         b.high_ns / b.copy_ns < a.low_ns / a.copy_ns;
}

bool same_way(const Drift& a, const Drift& b) {
  return a.rows == b.rows && a.cache == b.cache && (a.now > a.before) == (b.now > b.before);
}

}  // namespace

std::vector<Drift> find_drifts(const std::vector<Measurement>& stored,
                               const std::vector<Measurement>& now,
                               const std::vector<MeasuredEdge>& edges) {
  std::vector<Drift> drifts;
  for (const MeasuredEdge& edge : edges) {
    const auto before = at_edge(stored, edge);
    const auto after = at_edge(now, edge);
    if (!edge.decides || !before || !after || !apart(*before, *after)) continue;
    const Drift drift{.rows = edge.rows,
                      .cache = edge.cache,
                      .before = before->median_ns / before->copy_ns,
                      .now = after->median_ns / after->copy_ns};
    if (std::abs(drift.now / drift.before - 1) > drift_min) drifts.push_back(drift);
  }
  return drifts;
}

std::string to_text(const Drift& drift) {
  char ratios[64];
  std::snprintf(ratios, sizeof(ratios), " %.3f -> %.3f of a copy", drift.before, drift.now);
  return "rows=" + std::to_string(drift.rows) +
         " cache=" + std::string(cache_state_name(drift.cache)) + ratios;
}

bool Suspicion::confirm(const std::vector<Drift>& drifts) {
  const bool again = std::any_of(drifts.begin(), drifts.end(), [&](const Drift& drift) {
    return std::any_of(seen_.begin(), seen_.end(),
                       [&](const Drift& seen) { return same_way(seen, drift); });
  });
  seen_ = again ? std::vector<Drift>() : drifts;
  return again;
}

}  // namespace normd
