#include "kernels/cache_hints.h"

#include "kernels/slice_shape.h"

namespace normd {
namespace {

// What an H200 said, with x and y in multiples of its L2 cache: rows of 8 KB and more, and those of
// 4095 elements of 16 bits, gain from three on, narrower ones from eight on. Below, what is kept of
// x only takes room.
constexpr std::int64_t wide_row_bytes = 7168;
constexpr std::int64_t wide_caches = 3;
constexpr std::int64_t narrow_caches = 8;

bool has_policies(const DeviceSpec& spec) {
  return spec.kind == DeviceKind::host || spec.capability >= 80;
}

}  // namespace

Axis x_evict_last_axis(const DeviceSpec& spec) {
  if (!has_policies(spec)) return {"x_evict_last", {0}};
  return {"x_evict_last", {0, 1}};
}

bool x_evict_last_pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const std::int64_t row_bytes = bytes_of(problem.columns, problem.x);
  const std::int64_t caches = row_bytes >= wide_row_bytes ? wide_caches : narrow_caches;
  const std::int64_t bytes = problem.rows * (row_bytes + bytes_of(problem.columns, problem.y));
  const bool pays = has_policies(spec) && spec.l2_bytes > 0 && bytes >= caches * spec.l2_bytes;
  return (candidate.value("x_evict_last") != 0) == pays;
}

}  // namespace normd
