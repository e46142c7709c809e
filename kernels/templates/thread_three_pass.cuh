// thread_three_pass: one thread owns a row and reads it three times: for the mean, for the squared
// deviations, and to normalise. Neighbouring threads are a row apart, so each access of a warp
// touches 32 lines and uses an eighth of what it moves. The first step of the ladder; any width.
#include "taught_row.cuh"

namespace normd {

static_assert(rows_per_block == block_threads, "as the Launch says");

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  for (long long row = block_index() * block_threads + thread_index(); row < arguments.rows;
       row += grid_blocks() * block_threads) {
    const x_type* x = x_row(arguments, row);
    y_type* y = y_row(arguments, row);
    float sum = 0.0f;
#pragma unroll unroll
    for (int i = 0; i < row_columns; ++i) sum += to_float(x[i]);
    const float mean = sum / static_cast<float>(row_columns);

    float square_sum = 0.0f;
#pragma unroll unroll
    for (int i = 0; i < row_columns; ++i) {
      const float deviation = to_float(x[i]) - mean;
      square_sum += deviation * deviation;
    }
    const float rstd = rstd_of(square_sum, arguments.epsilon);

#pragma unroll unroll
    for (int i = 0; i < row_columns; ++i) {
      store_normalised(arguments, y, i, (to_float(x[i]) - mean) * rstd);
    }
    CompiledRow::store_statistics(arguments, row, mean, rstd);
  }
}

}  // namespace normd
