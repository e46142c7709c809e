// The float64 reference: this is the definition of what every kernel must compute. Statistics are
// taken by two passes in double over the stored values, the variance divides by columns, epsilon is
// the given float, and nothing is rounded before the end. Pure functions over host memory; any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/problem.h"

namespace normd {

// Host arrays in the problem's own dtypes; null where the problem has none. Strides in elements.
struct HostTensors {
  const void* x = nullptr;
  const void* gamma = nullptr;
  const void* beta = nullptr;
  std::int64_t x_row_stride = 0;
  float epsilon = 1e-5f;
};

// Mean and variance of one row. The mean is a pair, high + low: rounding it to one double would
// cost a row whose spread is a millionth of a millionth of its mean more than tolerance.h allows.
struct RowStatistics {
  double mean_high = 0;
  double mean_low = 0;
  double variance = 0;
};

// NaN or infinity in `values`: mean_high is what IEEE sums give, the variance is NaN. Not empty.
RowStatistics row_statistics(std::span<const double> values);

struct ReferenceRow {
  double mean = 0;
  double rstd = 0;
  double x_max_abs = 0;            // of the row, as mean_bound() of tolerance.h wants it
  std::vector<double> normalised;  // (x - mean) * rstd
  std::vector<double> y;           // normalised * gamma + beta
};

// Fills `out` (whose vectors are reused) for one row. A constant row with epsilon 0 has rstd
// infinite and y NaN; a row with NaN or infinity has y NaN throughout.
void reference_row(const Problem& problem, const HostTensors& tensors, std::int64_t row,
                   ReferenceRow& out);

}  // namespace normd
