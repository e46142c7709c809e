// block_two_pass: one block owns a row, reads it once and keeps it in registers as float. The mean
// comes first, then the squared deviations from it: two reductions, one after the other, over the
// same scratch of one float per warp. Three barriers keep them apart: after the partial sums are
// written, after they are read (so that the second reduction may overwrite them), and after the
// second's are written; the loop over rows adds a fourth. For rows that the registers hold.
#include "taught_row.cuh"

namespace normd {

constexpr int row_warps = block_threads / warp_lanes;
constexpr int elements = (row_columns + block_threads - 1) / block_threads;

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == 4 * row_warps, "as the Launch says");

// Sum over the block; two barriers, of which the second lets the scratch be written again.
NORMD_DEVICE float block_sum(float value, float* scratch) {
  value = lanes_sum<warp_lanes>(value);
  if (thread_index() % warp_lanes == 0) scratch[thread_index() / warp_lanes] = value;
  block_barrier();
  float sum = 0.0f;
#pragma unroll
  for (int warp = 0; warp < row_warps; ++warp) sum += scratch[warp];
  block_barrier();
  return sum;
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  float* scratch = shared_memory<float>();
  for (long long row = block_index(); row < arguments.rows; row += grid_blocks()) {
    const x_type* x = x_row(arguments, row);
    float held[elements];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < elements; ++k) {
      const int i = thread_index() + k * block_threads;
      held[k] = i < row_columns ? to_float(x[i]) : 0.0f;
      sum += held[k];
    }
    const float mean = block_sum(sum, scratch) / static_cast<float>(row_columns);

    float square_sum = 0.0f;
#pragma unroll
    for (int k = 0; k < elements; ++k) {
      const float deviation = held[k] - mean;
      if (thread_index() + k * block_threads < row_columns) square_sum += deviation * deviation;
    }
    const float rstd = rstd_of(block_sum(square_sum, scratch), arguments.epsilon);

#pragma unroll
    for (int k = 0; k < elements; ++k) {
      const int i = thread_index() + k * block_threads;
      if (i >= row_columns) continue;
      store_normalised(arguments, y_row(arguments, row), i, (held[k] - mean) * rstd);
    }
    if (thread_index() == 0) CompiledRow::store_statistics(arguments, row, mean, rstd);
  }
}

}  // namespace normd
