// double_sum: a sum in double over the threads that share a row. Used where time does not matter.
#pragma once

namespace normd {

// Sum over the `threads` neighbouring threads that share a row: part of a warp, or a whole block,
// which then has `scratch` for one double per warp.
template <int threads>
NORMD_DEVICE double double_sum(double value, double* scratch) {
  if constexpr (threads <= warp_lanes) {
    return lanes_sum<threads>(value);
  } else {
    value = lanes_sum<warp_lanes>(value);
    block_barrier();
    if (thread_index() % warp_lanes == 0) scratch[thread_index() / warp_lanes] = value;
    block_barrier();
    double sum = 0;
#pragma unroll 1
    for (int warp = 0; warp < threads / warp_lanes; ++warp) sum += scratch[warp];
    return sum;
  }
}

}  // namespace normd
