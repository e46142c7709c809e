// warp_welford: one warp owns a row and reads it twice, each lane every 32nd element, so that a
// warp's access is one stretch of memory. Each lane keeps running moments; five rounds of shuffles
// merge them, lanes without an element being neutral. No barrier, no shared memory. Any width.
#include "taught_row.cuh"
#include "welford.cuh"

namespace normd {

constexpr int warps_per_block = block_threads / warp_lanes;

static_assert(rows_per_block == warps_per_block, "as the Launch says");

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  const int lane = thread_index() % warp_lanes;
  for (long long row = block_index() * warps_per_block + thread_index() / warp_lanes;
       row < arguments.rows; row += grid_blocks() * warps_per_block) {
    const x_type* x = x_row(arguments, row);
    y_type* y = y_row(arguments, row);
    Moments moments;
#pragma unroll unroll
    for (int i = lane; i < row_columns; i += warp_lanes) moments.add(to_float(x[i]));
    moments = merge_lanes(moments);
    const float rstd = rstd_of(moments.m2, arguments.epsilon);

#pragma unroll unroll
    for (int i = lane; i < row_columns; i += warp_lanes) {
      store_normalised(arguments, y, i, (to_float(x[i]) - moments.mean) * rstd);
    }
    if (lane == 0) CompiledRow::store_statistics(arguments, row, moments.mean, rstd);
  }
}

}  // namespace normd
