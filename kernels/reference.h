// The float64 reference: this is the definition of what every kernel must compute. Statistics are
// taken by two passes in double over the stored values, the variance divides by columns, epsilon is
// the given float, and nothing is rounded before the end. Pure functions over host memory; any
// thread.
#pragma once

#include <cstdint>
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

struct ReferenceRow {
  double mean = 0;
  double rstd = 0;
  std::vector<double> normalised;  // (x - mean) * rstd
  std::vector<double> y;           // normalised * gamma + beta
};

// Fills `out` (whose vectors are reused) for one row. A constant row with epsilon 0 has rstd
// infinite and y NaN; a row with NaN or infinity has y NaN throughout.
void reference_row(const Problem& problem, const HostTensors& tensors, std::int64_t row,
                   ReferenceRow& out);

}  // namespace normd
