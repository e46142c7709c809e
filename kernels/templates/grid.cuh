// What blocks that run at once all over the device tell each other with, through global memory. A
// CUDA body (grid_cuda.cuh) and a host body (grid_host.cuh) with the same meaning.
//
// Rules for kernel texts: where blocks wait for each other the Launch is cooperative, or who waits
// may wait for one that has not begun. A place is written again only when everybody who takes from
// it is known to have done so.
#pragma once

namespace normd {

// Sixteen bytes that are written and read as a whole: who reads `tag` has the values it came with.
struct alignas(16) Posted {
  float value[3];
  unsigned tag;
};

}  // namespace normd

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "grid_cuda.cuh"
#else
#include "grid_host.cuh"
#endif
