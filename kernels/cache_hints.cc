#include "kernels/cache_hints.h"

#include "kernels/slice_shape.h"

namespace normd {
namespace {

// x and y in multiples of the L2 cache, by an H200: at four times it rows of 8 KB, and of 4095
// elements of 16 bits, gain, and those of 4 KB lose; at eight times it all gain; at twice it none.
constexpr std::int64_t wide_row_bytes = 7168;
constexpr int measured_on = 90;
constexpr double wide_caches = 3;
constexpr double narrow_caches = 8;
// Other chips may differ: from here on they try both.
constexpr double unknown_caches = 2;

bool has_policies(const DeviceSpec& spec) {
  return spec.capability >= 80 || (spec.capability == 0 && spec.kind == DeviceKind::host);
}

}  // namespace

double x_and_y_in_caches(const Problem& problem, const DeviceSpec& spec) {
  if (spec.l2_bytes <= 0) return 0;
  const std::int64_t row_bytes =
      bytes_of(problem.columns, problem.x) + bytes_of(problem.columns, problem.y);
  return static_cast<double>(problem.rows * row_bytes) / static_cast<double>(spec.l2_bytes);
}

Axis x_evict_last_axis(const DeviceSpec& spec) {
  if (!has_policies(spec)) return {"x_evict_last", {0}};
  return {"x_evict_last", {0, 1}};
}

bool x_evict_last_pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const bool last = candidate.value("x_evict_last") != 0;
  const double caches = x_and_y_in_caches(problem, spec);
  if (!has_policies(spec)) return !last;
  if (spec.capability != measured_on) return !last || caches >= unknown_caches;
  const bool wide = bytes_of(problem.columns, problem.x) >= wide_row_bytes;
  return last == (caches >= (wide ? wide_caches : narrow_caches));
}

}  // namespace normd
