// What templates for wide rows need beside platform.cuh, on chips from sm_90 on: bulk copies into
// shared memory that say when they have arrived, and clusters of blocks that write into each
// other's shared memory. A CUDA body (cluster_cuda.cuh) and a host body
// (cluster_host.cuh) with the same meaning.
//
// Rules for kernel texts: every thread of a warp waits for the same thing at the same place. An
// Arrival lies in shared memory and is begun by one thread, before publish_arrivals and a barrier;
// each of its phases ends once arrival_expect has been called and all bytes that it names have
// come, and must be expected again before the one after it can end. A block may end only when no
// other will write to it any more. cluster_arrive() and cluster_wait() show other blocks what
// publish_arrivals() has published, and nothing else that was written before.
#pragma once

namespace normd {

// One arrival per phase. As wide as the machine's own barrier in shared memory.
struct alignas(8) Arrival {
  unsigned count;
  unsigned phase;
};

// Sixteen bytes that one block sends to others.
struct alignas(16) Message {
  float value[4];
};

}  // namespace normd

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "cluster_cuda.cuh"
#else
#include "cluster_host.cuh"
#endif
