// thread_welford: one thread owns a row and reads it twice: a running mean and sum of squared
// deviations take the statistics in one pass, at more arithmetic per element; the second pass
// normalises. Accesses are strided as in thread_three_pass. Any width.
#include "taught_row.cuh"
#include "welford.cuh"

namespace normd {

static_assert(rows_per_block == block_threads, "as the Launch says");

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  for (long long row = block_index() * block_threads + thread_index(); row < arguments.rows;
       row += grid_blocks() * block_threads) {
    const x_type* x = x_row(arguments, row);
    y_type* y = y_row(arguments, row);
    Moments moments;
#pragma unroll unroll
    for (int i = 0; i < row_columns; ++i) moments.add(to_float(x[i]));
    const float rstd = rstd_of(moments.m2, arguments.epsilon);

#pragma unroll unroll
    for (int i = 0; i < row_columns; ++i) {
      store_normalised(arguments, y, i, (to_float(x[i]) - moments.mean) * rstd);
    }
    CompiledRow::store_statistics(arguments, row, moments.mean, rstd);
  }
}

}  // namespace normd
