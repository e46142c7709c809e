// tiled_welford: one block owns a row of any width and goes over it in tiles of `unroll` elements
// per thread, twice. Of each tile a thread takes mean and squared deviations by two passes over its
// registers and merges them into its running moments; warps merge by shuffles, the block through
// shared memory; the second read normalises. Nothing is held, so no width is too large.
#include "taught_row.cuh"
#include "welford.cuh"

namespace normd {

constexpr int row_warps = block_threads / warp_lanes;
constexpr int tile_columns = block_threads * unroll;

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == 12 * row_warps, "as the Launch says");

// The moments of the thread's elements of the tile that starts at `first`.
NORMD_DEVICE Moments tile_moments(const x_type* x, int first) {
  float held[unroll];
  Moments moments;
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const int i = first + u * block_threads + thread_index();
    held[u] = i < row_columns ? to_float(x[i]) : 0.0f;
    moments.mean += held[u];
    moments.count += i < row_columns ? 1.0f : 0.0f;
  }
  if (moments.count == 0.0f) return moments;
  moments.mean /= moments.count;
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const float deviation = held[u] - moments.mean;
    const bool inside = first + u * block_threads + thread_index() < row_columns;
    if (inside) moments.m2 += deviation * deviation;
  }
  return moments;
}

NORMD_DEVICE Moments merge_block(Moments moments, Moments* scratch) {
  moments = merge_lanes(moments);
  if (thread_index() % warp_lanes == 0) scratch[thread_index() / warp_lanes] = moments;
  block_barrier();
  moments = scratch[0];
#pragma unroll 1
  for (int warp = 1; warp < row_warps; ++warp) moments = merge(moments, scratch[warp]);
  block_barrier();
  return moments;
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  for (long long row = block_index(); row < arguments.rows; row += grid_blocks()) {
    const x_type* x = x_row(arguments, row);
    y_type* y = y_row(arguments, row);
    Moments moments;
#pragma unroll 1
    for (int first = 0; first < row_columns; first += tile_columns) {
      moments = merge(moments, tile_moments(x, first));
    }
    moments = merge_block(moments, shared_memory<Moments>());
    const float rstd = rstd_of(moments.m2, arguments.epsilon);

#pragma unroll unroll
    for (int i = thread_index(); i < row_columns; i += block_threads) {
      store_normalised(arguments, y, i, (to_float(x[i]) - moments.mean) * rstd);
    }
    if (thread_index() == 0) CompiledRow::store_statistics(arguments, row, moments.mean, rstd);
  }
}

}  // namespace normd
