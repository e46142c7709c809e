// The CUDA body of platform.cuh. The only kernel text with inline assembly; it needs no header.
#pragma once

// NORMD_KERNEL(entry, NormArguments, 256) { ... arguments.x ... }
#define NORMD_KERNEL(entry, Arguments, threads)               \
  extern "C" __global__ void __launch_bounds__(threads)       \
      entry(const __grid_constant__ normd::Arguments arguments)
#define NORMD_DEVICE __device__ __forceinline__
#define NORMD_DEVICE_CALL __device__ __noinline__

namespace normd {

NORMD_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
NORMD_DEVICE long long block_index() { return blockIdx.x; }
NORMD_DEVICE long long grid_blocks() { return gridDim.x; }
NORMD_DEVICE void block_barrier() { __syncthreads(); }

template <typename T>
NORMD_DEVICE T* shared_memory() {
  extern __shared__ __align__(128) unsigned char normd_shared[];
  return reinterpret_cast<T*>(normd_shared);
}

NORMD_DEVICE float shuffle_xor(float value, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}
NORMD_DEVICE double shuffle_xor(double value, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}
NORMD_DEVICE float shuffle_from(float value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

NORMD_DEVICE float bits_to_float(unsigned bits) { return __uint_as_float(bits); }
NORMD_DEVICE unsigned float_to_bits(float value) { return __float_as_uint(value); }

// Correctly rounded, whatever the compile options say.
NORMD_DEVICE float reciprocal_sqrt(float value) { return __frcp_rn(__fsqrt_rn(value)); }
NORMD_DEVICE double square_root(double value) { return __dsqrt_rn(value); }
NORMD_DEVICE float fused_multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
NORMD_DEVICE bool is_finite(float value) { return fabsf(value) < __int_as_float(0x7f800000); }

NORMD_DEVICE float to_float(fp16 element) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(element.bits));
  return value;
}

NORMD_DEVICE fp16 float_to_fp16(float value) {
  fp16 element;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(element.bits) : "f"(value));
  return element;
}

NORMD_DEVICE bf16 float_to_bf16(float value) {
  bf16 element;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(element.bits) : "f"(value));
#else
  const unsigned bits = float_to_bits(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  element.bits = static_cast<unsigned short>(nan ? (bits >> 16) | 0x40u : rounded);
#endif
  return element;
}

template <int count>
NORMD_DEVICE void round_pairs(const float (&values)[count], Pack<fp32, count>& pack) {
#pragma unroll
  for (int i = 0; i < count; ++i) pack.element[i].value = values[i];
}

template <int count>
NORMD_DEVICE void round_pairs(const float (&values)[count], Pack<fp16, count>& pack) {
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(values[i + 1]), "f"(values[i]));
    pack.element[i].bits = static_cast<unsigned short>(pair);
    pack.element[i + 1].bits = static_cast<unsigned short>(pair >> 16);
  }
  if constexpr (count % 2 == 1) pack.element[count - 1] = float_to_fp16(values[count - 1]);
}

template <int count>
NORMD_DEVICE void round_pairs(const float (&values)[count], Pack<bf16, count>& pack) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(values[i + 1]), "f"(values[i]));
    pack.element[i].bits = static_cast<unsigned short>(pair);
    pack.element[i + 1].bits = static_cast<unsigned short>(pair >> 16);
  }
  if constexpr (count % 2 == 1) pack.element[count - 1] = float_to_bf16(values[count - 1]);
#else
#pragma unroll
  for (int i = 0; i < count; ++i) pack.element[i] = float_to_bf16(values[i]);
#endif
}

// How long a line should stay near: `stream` for data that is touched once, `keep` for gamma and
// beta, which every row reads.
enum class Hint { keep, stream };

template <Hint hint, typename T, int count>
NORMD_DEVICE Pack<T, count> load_pack(const T* address) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  Pack<T, count> pack;
  if constexpr (bytes == 16 && hint == Hint::stream) {
    Words<16> words;
    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.word[0]), "=r"(words.word[1]), "=r"(words.word[2]),
                   "=r"(words.word[3])
                 : "l"(address)
                 : "memory");
    __builtin_memcpy(&pack, &words, bytes);
  } else if constexpr (bytes == 8 && hint == Hint::stream) {
    Words<8> words;
    asm volatile("ld.global.L1::no_allocate.v2.b32 {%0, %1}, [%2];"
                 : "=r"(words.word[0]), "=r"(words.word[1])
                 : "l"(address)
                 : "memory");
    __builtin_memcpy(&pack, &words, bytes);
  } else {
    pack = *reinterpret_cast<const Pack<T, count>*>(address);
  }
  return pack;
}

template <Hint hint, typename T, int count>
NORMD_DEVICE void store_pack(T* address, const Pack<T, count>& pack) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  if constexpr (bytes == 16 && hint == Hint::stream) {
    Words<16> words;
    __builtin_memcpy(&words, &pack, bytes);
    asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(words.word[0]),
                 "r"(words.word[1]), "r"(words.word[2]), "r"(words.word[3])
                 : "memory");
  } else if constexpr (bytes == 8 && hint == Hint::stream) {
    Words<8> words;
    __builtin_memcpy(&words, &pack, bytes);
    asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(words.word[0]),
                 "r"(words.word[1])
                 : "memory");
  } else {
    *reinterpret_cast<Pack<T, count>*>(address) = pack;
  }
}

}  // namespace normd
