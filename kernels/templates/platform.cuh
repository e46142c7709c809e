// The primitives that kernel texts are written in: element types, packed loads and stores,
// shuffles, votes, barriers, shared memory. Each has a CUDA body (platform_cuda.cuh) and a host
// body (platform_host.cuh) with the same meaning; kernel texts use no other CUDA feature, no inline
// assembly and no header.
//
// Rules for kernel texts: blocks are one-dimensional with a multiple of 32 threads; every thread of
// a block reaches every block_barrier, and every thread of a warp every shuffle, vote and
// warp_barrier. A product and a sum become one rounding only where fused_multiply_add says so:
// texts are compiled without contraction, so that both bodies compute the same.
#pragma once

namespace normd {

// Element types are bit patterns; arithmetic is done in float.
struct fp32 {
  float value;
};
struct fp16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
struct none {
  unsigned short bits;
};  // stands for gamma or beta that is not there

// `count` neighbouring elements, moved by one access. Aligned to its size, at most 32 bytes.
template <typename T, int count>
struct alignas(sizeof(T) * count) Pack {
  T element[count];
};

constexpr int warp_lanes = 32;

// How an access treats the caches: `normal`; `read_only` for gamma and beta, which every row reads
// and no thread writes; or `last_to_leave`, for which the L2 cache gives up other lines first.
enum class Hint { normal, read_only, last_to_leave };

}  // namespace normd

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "platform_cuda.cuh"
// After what they are built on.
#include "elements_cuda.cuh"
#include "shared_cuda.cuh"
#else
#include "platform_host.cuh"
#endif

namespace normd {

// --- the rest is built from the primitives, the same on both platforms ---

NORMD_DEVICE constexpr int smaller_of(int a, int b) {
  return a < b ? a : b;
}
NORMD_DEVICE constexpr int larger_of(int a, int b) {
  return a > b ? a : b;
}

NORMD_DEVICE float to_float(fp32 element) {
  return element.value;
}

NORMD_DEVICE float to_float(bf16 element) {
  return bits_to_float(static_cast<unsigned>(element.bits) << 16);
}

// Never called: discarded branches of code that is no template are still checked.
NORMD_DEVICE float to_float(none) {
  return 0.0f;
}

template <typename T>
NORMD_DEVICE T from_float(float value);
template <>
NORMD_DEVICE fp32 from_float<fp32>(float value) {
  return fp32{value};
}
template <>
NORMD_DEVICE fp16 from_float<fp16>(float value) {
  return float_to_fp16(value);
}
template <>
NORMD_DEVICE bf16 from_float<bf16>(float value) {
  return float_to_bf16(value);
}

// The float next to `value` on the side of zero if `value` is no float, its last bit then set: no
// rounding of it to a format at least two bits shorter can differ from rounding `value` at once.
NORMD_DEVICE float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  const unsigned bits = float_to_bits(nearest);
  return bits_to_float((away ? bits - 1u : bits) | 1u);
}

// Rounds to nearest even, once.
template <typename T>
NORMD_DEVICE T from_double(double value);
template <>
NORMD_DEVICE fp32 from_double<fp32>(double value) {
  return fp32{static_cast<float>(value)};
}
template <>
NORMD_DEVICE fp16 from_double<fp16>(double value) {
  return float_to_fp16(round_to_odd(value));
}
template <>
NORMD_DEVICE bf16 from_double<bf16>(double value) {
  return float_to_bf16(round_to_odd(value));
}

template <typename T, int count>
NORMD_DEVICE void to_floats(const Pack<T, count>& pack, float (&values)[count]) {
  widen_pairs(pack, values);
}

// Rounds to nearest even, once per element.
template <typename T, int count>
NORMD_DEVICE Pack<T, count> from_floats(const float (&values)[count]) {
  Pack<T, count> pack;
  round_pairs(values, pack);
  return pack;
}

// Moves `count` neighbouring elements by the widest accesses that `align` bytes allow.
template <Hint hint, int align, typename T, int count>
NORMD_DEVICE void load_elements(const T* address, Pack<T, count>& pack) {
  constexpr int element = static_cast<int>(sizeof(T));
  constexpr int access = smaller_of(smaller_of(align, access_bytes_max), element * count) / element;
  if constexpr (access >= count) {
    pack = load_pack<hint, T, count>(address);
  } else {
    constexpr int width = larger_of(access, 1);
#pragma unroll
    for (int i = 0; i < count; i += width) {
      const Pack<T, width> part = load_pack<hint, T, width>(address + i);
#pragma unroll
      for (int k = 0; k < width; ++k) pack.element[i + k] = part.element[k];
    }
  }
}

template <int align, typename T, int count>
NORMD_DEVICE void store_elements(T* address, const Pack<T, count>& pack) {
  constexpr int element = static_cast<int>(sizeof(T));
  constexpr int access = smaller_of(smaller_of(align, access_bytes_max), element * count) / element;
  if constexpr (access >= count) {
    store_pack(address, pack);
  } else {
    constexpr int width = larger_of(access, 1);
#pragma unroll
    for (int i = 0; i < count; i += width) {
      Pack<T, width> part;
#pragma unroll
      for (int k = 0; k < width; ++k) part.element[k] = pack.element[i + k];
      store_pack(address + i, part);
    }
  }
}

// Sum over groups of `lanes` neighbouring threads of a warp; every thread gets the sum, and the
// order of the additions is the same in every thread.
template <int lanes, typename T>
NORMD_DEVICE T lanes_sum(T value) {
#pragma unroll
  for (int mask = lanes / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
  return value;
}

// The same for several values at once, whose exchanges overlap.
template <int lanes, typename T, int count>
NORMD_DEVICE void lanes_sums(T (&values)[count]) {
#pragma unroll
  for (int mask = lanes / 2; mask > 0; mask /= 2) {
#pragma unroll
    for (int i = 0; i < count; ++i) values[i] += shuffle_xor(values[i], mask);
  }
}

}  // namespace normd
