// Small kernels for tests on a real GPU, compiled by NVRTC for the GPU that is there.
#pragma once

#include <string>

#include "kernels/digest.h"
#include "tuner/compiler/compiler.h"

namespace normd {

// One struct for all of them, as for the real kernels.
struct TestArguments {
  float* x = nullptr;
  long long count = 0;
};

inline constexpr const char* gpu_test_kernels = R"(
struct Arguments { float* x; long long count; };

// One row is one block's worth of elements.
extern "C" __global__ void add_one(Arguments arguments) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < arguments.count) arguments.x[i] += 1.0f;
}

// Busy for `count` nanoseconds by the GPU's own timer.
extern "C" __global__ void spin(Arguments arguments) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < arguments.count);
}

// The last float of `count` bytes of dynamic shared memory, through that memory.
extern "C" __global__ void through_shared(Arguments arguments) {
  extern __shared__ float shared[];
  const long long last = arguments.count / 4 - 1;
  if (threadIdx.x == 0) shared[last] = 42.0f;
  __syncthreads();
  if (threadIdx.x == 1) arguments.x[blockIdx.x] = shared[last];
}

// Writes far outside every allocation.
extern "C" __global__ void write_nowhere(Arguments arguments) {
  arguments.x[(1ll << 44) + threadIdx.x] = 1.0f;
}

// Sixteen lanes of each warp wait for those that have ended, and a lane names others than itself.
extern "C" __global__ void half_a_barrier(Arguments) {
  const unsigned half = __ballot_sync(0xffffffffu, threadIdx.x % 32 < 16);
  if (threadIdx.x % 32 <= 16) __syncwarp(half);
  if (threadIdx.x % 32 < 16) __syncthreads();
}

extern "C" __global__ void trap(Arguments arguments) { __trap(); }

#if __CUDA_ARCH__ >= 900
// How many blocks share a cluster.
extern "C" __global__ void cluster_blocks(Arguments arguments) {
  unsigned blocks;
  asm("mov.u32 %0, %cluster_nctaid.x;" : "=r"(blocks));
  if (threadIdx.x == 0) arguments.x[blockIdx.x] = static_cast<float>(blocks);
}
#endif
)";

inline Result<Binary> compile_gpu_kernel(const std::string& entry, const std::string& target) {
  const std::string text = gpu_test_kernels;
  return compile({.text = text,
                  .entry = entry,
                  .target = target,
                  .options = {},
                  .digest = sha256_hex(text + entry + target)});
}

}  // namespace normd
