// block_shared: one block owns a row, reads it once and keeps it in shared memory as float, with
// one float per thread beside it for reductions by halves: 4 * (columns + threads) bytes per block,
// which is what limits how many blocks a multiprocessor holds. For rows that fit.
#include "taught_row.cuh"

namespace normd {

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == 4 * (row_columns + block_threads), "as the Launch says");
static_assert((block_threads & (block_threads - 1)) == 0, "halves need a power of two");

// Sum over the block. The barrier at the end lets the scratch be written again.
NORMD_DEVICE float sum_by_halves(float value, float* scratch) {
  scratch[thread_index()] = value;
  block_barrier();
#pragma unroll
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread_index() < half) scratch[thread_index()] += scratch[thread_index() + half];
    block_barrier();
  }
  const float sum = scratch[0];
  block_barrier();
  return sum;
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  float* held = shared_memory<float>();
  float* scratch = held + row_columns;
  for (long long row = block_index(); row < arguments.rows; row += grid_blocks()) {
    const x_type* x = x_row(arguments, row);
    float sum = 0.0f;
#pragma unroll unroll
    for (int i = thread_index(); i < row_columns; i += block_threads) {
      held[i] = to_float(x[i]);
      sum += held[i];
    }
    const float mean = sum_by_halves(sum, scratch) / static_cast<float>(row_columns);

    float square_sum = 0.0f;
#pragma unroll unroll
    for (int i = thread_index(); i < row_columns; i += block_threads) {
      const float deviation = held[i] - mean;
      square_sum += deviation * deviation;
    }
    const float rstd = rstd_of(sum_by_halves(square_sum, scratch), arguments.epsilon);

#pragma unroll unroll
    for (int i = thread_index(); i < row_columns; i += block_threads) {
      store_normalised(arguments, y_row(arguments, row), i, (held[i] - mean) * rstd);
    }
    if (thread_index() == 0) CompiledRow::store_statistics(arguments, row, mean, rstd);
  }
}

}  // namespace normd
