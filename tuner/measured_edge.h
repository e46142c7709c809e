// MeasuredEdge: a place at which the candidates of a key are measured: a row count at an edge of
// its bucket, in one state of the cache. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_bucket.h"
#include "tuner/trial.h"

namespace normd {

struct MeasuredEdge {
  std::int64_t rows = 0;
  CacheState cache = CacheState::cold;
  // Whether a winner may not be slower than the default here. Elsewhere it is only ranked.
  bool decides = true;

  bool operator==(const MeasuredEdge&) const = default;
};

// The state that decides for a problem: what fits in half the L2 cache comes warm from the kernel
// before it in any real model; what does not comes cold.
CacheState deciding_cache_state(const Problem& problem, const DeviceSpec& spec);

// Both edges of the bucket, or the one there is; each in both states where x and y fit in the L2
// cache, since a model may bring them in either. The last is the upper edge in the state that
// decides: its time is the one that is shown first.
std::vector<MeasuredEdge> measured_edges(const Problem& problem, const DeviceSpec& spec,
                                         const RowBucket& bucket);

}  // namespace normd
