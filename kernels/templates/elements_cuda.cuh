// The CUDA body of platform.cuh, second part: between elements and floats. 16-bit elements are
// converted two at a time, out of and into the 32-bit registers that accesses move: taken one by
// one, each would cost an instruction more.
#pragma once

namespace normd {

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
#if __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(values[i + 1]), "f"(values[i]));
    copy_bytes<4>(&pack.element[i], &pair);
  }
  if constexpr (count % 2 == 1) pack.element[count - 1] = float_to_fp16(values[count - 1]);
#else
#pragma unroll
  for (int i = 0; i < count; ++i) pack.element[i] = float_to_fp16(values[i]);
#endif
}

template <int count>
NORMD_DEVICE void round_pairs(const float (&values)[count], Pack<bf16, count>& pack) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(values[i + 1]), "f"(values[i]));
    copy_bytes<4>(&pack.element[i], &pair);
  }
  if constexpr (count % 2 == 1) pack.element[count - 1] = float_to_bf16(values[count - 1]);
#else
#pragma unroll
  for (int i = 0; i < count; ++i) pack.element[i] = float_to_bf16(values[i]);
#endif
}

template <int count>
NORMD_DEVICE void widen_pairs(const Pack<fp32, count>& pack, float (&values)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) values[i] = pack.element[i].value;
}

// Never called, but checked all the same.
template <int count>
NORMD_DEVICE void widen_pairs(const Pack<none, count>&, float (&)[count]) {}

template <int count>
NORMD_DEVICE void widen_pairs(const Pack<fp16, count>& pack, float (&values)[count]) {
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    copy_bytes<4>(&pair, &pack.element[i]);
    asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\n"
        "cvt.f32.f16 %1, high;\n}"
        : "=f"(values[i]), "=f"(values[i + 1])
        : "r"(pair));
  }
  if constexpr (count % 2 == 1) values[count - 1] = to_float(pack.element[count - 1]);
}

template <int count>
NORMD_DEVICE void widen_pairs(const Pack<bf16, count>& pack, float (&values)[count]) {
#pragma unroll
  for (int i = 0; i + 1 < count; i += 2) {
    unsigned pair;
    copy_bytes<4>(&pair, &pack.element[i]);
    values[i] = bits_to_float(pair << 16);
    values[i + 1] = bits_to_float(pair & 0xffff0000u);
  }
  if constexpr (count % 2 == 1) {
    values[count - 1] = bits_to_float(static_cast<unsigned>(pack.element[count - 1].bits) << 16);
  }
}

}  // namespace normd
