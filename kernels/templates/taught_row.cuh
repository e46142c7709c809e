// What the teaching templates share: the last step of a row in plain float, one element at a time.
// They keep to the textbook: no correction of the mean, no rare path, no care for the edges of the
// float range.
#pragma once

#include "compiled_row.cuh"

namespace normd {

constexpr int row_columns = static_cast<int>(columns);

NORMD_DEVICE void store_normalised(const NormArguments& arguments, y_type* row, int column,
                                   float value) {
  if constexpr (has_gamma) {
    value *= to_float(static_cast<const gamma_type*>(arguments.gamma)[column]);
  }
  if constexpr (has_beta) {
    value += to_float(static_cast<const beta_type*>(arguments.beta)[column]);
  }
  row[column] = from_float<y_type>(value);
}

// 1 / sqrt(variance + epsilon) of a sum of squared deviations. Rounding can leave a variance below
// zero, which counts as zero.
NORMD_DEVICE float rstd_of(float square_sum, float epsilon) {
  const float variance = square_sum / static_cast<float>(row_columns);
  return 1.0f / square_root((variance < 0.0f ? 0.0f : variance) + epsilon);
}

}  // namespace normd
