#include "tuner/measured_edge.h"

namespace normd {

CacheState deciding_cache_state(const Problem& problem, const DeviceSpec& spec) {
  return useful_bytes(problem) <= static_cast<double>(spec.l2_bytes) / 2 ? CacheState::warm
                                                                         : CacheState::cold;
}

std::vector<MeasuredEdge> measured_edges(const Problem& problem, const DeviceSpec& spec,
                                         const RowBucket& bucket) {
  std::vector<MeasuredEdge> edges;
  for (const std::int64_t rows : measured_rows(problem, spec, bucket)) {
    Problem edge = problem;
    edge.rows = rows;
    const CacheState deciding = deciding_cache_state(edge, spec);
    if (useful_bytes(edge) <= static_cast<double>(spec.l2_bytes)) {
      const bool warm = deciding == CacheState::warm;
      edges.push_back({rows, warm ? CacheState::cold : CacheState::warm, false});
    }
    edges.push_back({rows, deciding, true});
  }
  return edges;
}

}  // namespace normd
