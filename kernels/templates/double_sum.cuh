// double_sum: a sum in double over the threads that share a row. Used where time does not matter.
#pragma once

#include "barrier.cuh"

namespace normd {

// Sum over the `threads` neighbouring threads that share a row: part of a warp, or several warps
// with a barrier, which then have `scratch` for one double each.
template <int threads, typename Barrier = BlockBarrier>
NORMD_DEVICE double double_sum(double value, double* scratch, Barrier barrier = {}) {
  if constexpr (threads <= warp_lanes) {
    return lanes_sum<threads>(value);
  } else {
    value = lanes_sum<warp_lanes>(value);
    barrier.wait();
    if (thread_index() % warp_lanes == 0) {
      scratch[thread_index() % threads / warp_lanes] = value;
    }
    barrier.wait();
    double sum = 0;
#pragma unroll 1
    for (int warp = 0; warp < threads / warp_lanes; ++warp) sum += scratch[warp];
    return sum;
  }
}

}  // namespace normd
