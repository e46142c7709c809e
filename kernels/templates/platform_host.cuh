// The host body of platform.cuh: the same primitives on the CPU, one fibre per thread of a block.
// Everything that waits goes through the HostRuntime table that the host device hands over.
#pragma once

#include "host_runtime.h"

// The exported entry takes the address of its arguments, so that one call fits every struct.
#define NORMD_KERNEL(entry, Arguments, threads)                     \
  static void entry##_body(const normd::Arguments& arguments);      \
  extern "C" void entry(const void* arguments) {                    \
    entry##_body(*static_cast<const normd::Arguments*>(arguments)); \
  }                                                                 \
  static void entry##_body(const normd::Arguments& arguments)
#define NORMD_KERNEL_RESIDENT(entry, Arguments, threads, blocks) \
  NORMD_KERNEL(entry, Arguments, threads)
// Hidden: several kernel objects are open at once, and each must call its own bodies.
#define NORMD_DEVICE __attribute__((visibility("hidden"))) inline
#define NORMD_DEVICE_CALL NORMD_DEVICE
#define NORMD_OFFSET(Type, member) __builtin_offsetof(Type, member)

namespace normd {

static const HostRuntime* host_runtime = nullptr;

NORMD_DEVICE int thread_index() {
  return host_runtime->thread_index();
}
NORMD_DEVICE long long block_index() {
  return host_runtime->block_index();
}
NORMD_DEVICE long long grid_blocks() {
  return host_runtime->grid_blocks();
}
NORMD_DEVICE void block_barrier() {
  host_runtime->block_barrier();
}

template <int threads>
NORMD_DEVICE void group_barrier(int group) {
  host_runtime->group_barrier(group, threads);
}

// Every thread of the warp arrives at an exchange before any leaves it.
NORMD_DEVICE void warp_barrier() {
  (void)host_runtime->shuffle_xor(0u, 0);
}

NORMD_DEVICE void loads_stay() {}

template <typename T>
NORMD_DEVICE T* shared_memory() {
  return static_cast<T*>(host_runtime->shared_memory());
}

template <int bytes>
NORMD_DEVICE void copy_bytes(void* to, const void* from) {
  __builtin_memcpy(to, from, bytes);
}

NORMD_DEVICE float bits_to_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
NORMD_DEVICE unsigned float_to_bits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

NORMD_DEVICE float shuffle_xor(float value, int lane_mask) {
  return bits_to_float(host_runtime->shuffle_xor(float_to_bits(value), lane_mask));
}
NORMD_DEVICE double shuffle_xor(double value, int lane_mask) {
  unsigned halves[2];
  __builtin_memcpy(halves, &value, sizeof value);
  halves[0] = host_runtime->shuffle_xor(halves[0], lane_mask);
  halves[1] = host_runtime->shuffle_xor(halves[1], lane_mask);
  __builtin_memcpy(&value, halves, sizeof value);
  return value;
}
NORMD_DEVICE float shuffle_from(float value, int lane) {
  return bits_to_float(host_runtime->shuffle_from(float_to_bits(value), lane));
}

// True if any thread of the warp says so; `flag` is the same in each `lanes` neighbouring threads.
template <int lanes>
NORMD_DEVICE bool warp_any(bool flag) {
  unsigned any = flag ? 1u : 0u;
  for (int mask = lanes; mask < warp_lanes; mask *= 2) any |= host_runtime->shuffle_xor(any, mask);
  return any != 0u;
}

NORMD_DEVICE float reciprocal_sqrt(float value) {
  return 1.0f / __builtin_sqrtf(value);
}
NORMD_DEVICE float reciprocal_sqrt_nearest(float value) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(value)));
}
NORMD_DEVICE float square_root(float value) {
  return __builtin_sqrtf(value);
}
NORMD_DEVICE double square_root(double value) {
  return __builtin_sqrt(value);
}
NORMD_DEVICE float fused_multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
NORMD_DEVICE float smaller_of(float a, float b) {
  return __builtin_fminf(a, b);
}
NORMD_DEVICE float larger_of(float a, float b) {
  return __builtin_fmaxf(a, b);
}
NORMD_DEVICE bool is_finite(float value) {
  return __builtin_isfinite(value);
}

NORMD_DEVICE float to_float(fp16 element) {
  const unsigned sign = static_cast<unsigned>(element.bits & 0x8000u) << 16;
  const unsigned magnitude = element.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return bits_to_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return bits_to_float(sign | ((magnitude << 13) + (112u << 23)));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;  // zero or subnormal: exact
  return sign != 0 ? -value : value;
}

NORMD_DEVICE fp16 float_to_fp16(float value) {
  const unsigned bits = float_to_bits(value);
  const unsigned sign = (bits >> 16) & 0x8000u;
  const unsigned magnitude = bits & 0x7fffffffu;
  unsigned half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // NaN
  } else if (magnitude >= 0x477ff000u) {
    half = 0x7c00u;  // rounds past the largest half, 65504
  } else if (magnitude >= 0x38800000u) {
    const unsigned rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    half = (rounded - (112u << 23)) >> 13;
  } else {
    // Subnormal half: adding 0.5 makes the float addition round at the half's last place.
    half = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
  }
  return fp16{static_cast<unsigned short>(sign | half)};
}

NORMD_DEVICE bf16 float_to_bf16(float value) {
  const unsigned bits = float_to_bits(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return bf16{static_cast<unsigned short>(nan ? (bits >> 16) | 0x40u : rounded)};
}

template <typename T>
NORMD_DEVICE T from_float(float value);

template <typename T, int count>
NORMD_DEVICE void round_pairs(const float (&values)[count], Pack<T, count>& pack) {
  for (int i = 0; i < count; ++i) pack.element[i] = from_float<T>(values[i]);
}

template <typename T>
NORMD_DEVICE float to_float(T element);

template <typename T, int count>
NORMD_DEVICE void widen_pairs(const Pack<T, count>& pack, float (&values)[count]) {
  for (int i = 0; i < count; ++i) values[i] = to_float(pack.element[i]);
}

// The widest access of one thread.
constexpr int access_bytes_max = 16;

// The compiler must expect the same memory to be seen through packs of different widths.
template <Hint hint, typename T, int count>
NORMD_DEVICE Pack<T, count> load_pack(const T* address) {
  typedef Pack<T, count> __attribute__((may_alias)) Seen;
  return *reinterpret_cast<const Seen*>(address);
}

// Nothing to do on a machine whose compiler sees to its registers.
template <typename T, int count>
NORMD_DEVICE void keep_packed(Pack<T, count>&) {}

template <typename T, int count>
NORMD_DEVICE Pack<T, count> load_shared(const T* address) {
  return load_pack<Hint::normal, T, count>(address);
}

template <typename T, int count>
NORMD_DEVICE void store_pack(T* address, const Pack<T, count>& pack) {
  typedef Pack<T, count> __attribute__((may_alias)) Seen;
  *reinterpret_cast<Seen*>(address) = pack;
}

// Packs of more than 16 bytes may begin on any 16: the machine's accesses there are no wider.
NORMD_DEVICE void copy_to_shared(void* to, const void* from) {
  copy_bytes<16>(to, from);
}
NORMD_DEVICE void copies_wait() {}

template <typename T, int count>
NORMD_DEVICE Pack<T, count> load_shared_here(const T* address) {
  Pack<T, count> pack;
  copy_bytes<sizeof(T) * count>(&pack, address);
  return pack;
}
template <typename T, int count>
NORMD_DEVICE void store_shared(T* address, const Pack<T, count>& pack) {
  copy_bytes<sizeof(T) * count>(address, &pack);
}

}  // namespace normd

extern "C" void normd_set_host_runtime(const normd::HostRuntime* runtime) {
  normd::host_runtime = runtime;
}
