// The primitives that kernel texts are written in: element types, packed loads and stores,
// shuffles, barriers, shared memory. Each has a CUDA body (platform_cuda.cuh) and a host body
// (platform_host.cuh) with the same meaning; kernel texts use no other CUDA feature, no inline
// assembly and no header.
//
// Rules for kernel texts: blocks are one-dimensional with a multiple of 32 threads; every thread of
// a block reaches every block_barrier, and every thread of a warp every shuffle.
#pragma once

namespace normd {

// Element types are bit patterns; arithmetic is done in float.
struct fp32 { float value; };
struct fp16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
struct none { unsigned short bits; };  // stands for gamma or beta that is not there

template <typename T> struct Same { using type = T; };

// `count` neighbouring elements, moved by one access. Aligned to its size, at most 32 bytes.
template <typename T, int count>
struct alignas(sizeof(T) * count) Pack {
  T element[count];
};

constexpr int warp_lanes = 32;

template <int bytes> struct Words { unsigned word[bytes / 4]; };

}  // namespace normd

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "platform_cuda.cuh"
#else
#include "platform_host.cuh"
#endif

namespace normd {

// --- the rest is built from the primitives, the same on both platforms ---

NORMD_DEVICE float to_float(fp32 element) { return element.value; }

NORMD_DEVICE float to_float(bf16 element) {
  return bits_to_float(static_cast<unsigned>(element.bits) << 16);
}

template <typename T> NORMD_DEVICE T from_float(float value);
template <> NORMD_DEVICE fp32 from_float<fp32>(float value) { return fp32{value}; }
template <> NORMD_DEVICE fp16 from_float<fp16>(float value) { return float_to_fp16(value); }
template <> NORMD_DEVICE bf16 from_float<bf16>(float value) { return float_to_bf16(value); }

template <typename T, int count>
NORMD_DEVICE void to_floats(const Pack<T, count>& pack, float (&values)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) values[i] = to_float(pack.element[i]);
}

// Rounds to nearest even, once per element.
template <typename T, int count>
NORMD_DEVICE Pack<T, count> from_floats(const float (&values)[count]) {
  Pack<T, count> pack;
  round_pairs(values, pack);
  return pack;
}

// Sum over groups of `lanes` neighbouring threads of a warp; every thread gets the sum, and the
// order of the additions is the same in every thread.
template <int lanes, typename T>
NORMD_DEVICE T lanes_sum(T value) {
#pragma unroll
  for (int mask = lanes / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
  return value;
}

}  // namespace normd
