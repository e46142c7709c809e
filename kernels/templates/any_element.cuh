// Elements whose type is a run-time number: 1 fp32, 2 fp16, 3 bf16, as in argument_flags(); 0 where
// there is no gamma or beta.
#pragma once

namespace normd {

NORMD_DEVICE float load_any(unsigned kind, const void* array, long long index) {
  if (kind == 1u) return to_float(static_cast<const fp32*>(array)[index]);
  if (kind == 2u) return to_float(static_cast<const fp16*>(array)[index]);
  return to_float(static_cast<const bf16*>(array)[index]);
}

NORMD_DEVICE void store_any(unsigned kind, void* array, long long index, double value) {
  if (kind == 1u) {
    static_cast<fp32*>(array)[index] = from_double<fp32>(value);
  } else if (kind == 2u) {
    static_cast<fp16*>(array)[index] = from_double<fp16>(value);
  } else {
    static_cast<bf16*>(array)[index] = from_double<bf16>(value);
  }
}

NORMD_DEVICE int any_bytes(unsigned kind) {
  return kind == 1u ? 4 : 2;
}

// Packs of `count` elements by accesses of up to 16 bytes; single elements by their own size.
template <int count, typename T>
constexpr int any_align = count == 1 ? static_cast<int>(sizeof(T)) : 16;

template <Hint hint, typename T, int count>
NORMD_DEVICE void load_floats(const void* array, long long index, float (&values)[count]) {
  Pack<T, count> pack;
  load_elements<hint, any_align<count, T>>(static_cast<const T*>(array) + index, pack);
  to_floats(pack, values);
}

template <Hint hint, int count>
NORMD_DEVICE void load_floats_any(unsigned kind, const void* array, long long index,
                                  float (&values)[count]) {
  if (kind == 1u) {
    load_floats<hint, fp32>(array, index, values);
  } else if (kind == 2u) {
    load_floats<hint, fp16>(array, index, values);
  } else {
    load_floats<hint, bf16>(array, index, values);
  }
}

template <typename T, int count>
NORMD_DEVICE void store_floats(void* array, long long index, const float (&values)[count]) {
  const Pack<T, count> pack = from_floats<T>(values);
  store_elements<any_align<count, T>>(static_cast<T*>(array) + index, pack);
}

template <int count>
NORMD_DEVICE void store_floats_any(unsigned kind, void* array, long long index,
                                   const float (&values)[count]) {
  if (kind == 1u) {
    store_floats<fp32>(array, index, values);
  } else if (kind == 2u) {
    store_floats<fp16>(array, index, values);
  } else {
    store_floats<bf16>(array, index, values);
  }
}

// The types of a call's tensors.
struct Kinds {
  unsigned x;
  unsigned y;
  unsigned gamma;
  unsigned beta;
};

NORMD_DEVICE Kinds kinds_of(unsigned flags) {
  return {flags & 15u, flags >> 4 & 15u, flags >> 8 & 15u, flags >> 12 & 15u};
}

}  // namespace normd
