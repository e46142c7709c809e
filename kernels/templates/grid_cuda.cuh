// The CUDA body of grid.cuh: relaxed accesses of the whole device's scope, which go to the L2 cache
// and of which those of 128 bits are single ones by the memory model of the PTX manual.
#pragma once

namespace normd {

NORMD_DEVICE void post(Posted* place, const Posted& posted) {
  asm volatile(
      "{\n.reg .b64 low, high;\n.reg .b128 all;\n"
      "mov.b64 low, {%1, %2};\nmov.b64 high, {%3, %4};\nmov.b128 all, {low, high};\n"
      "st.relaxed.gpu.global.b128 [%0], all;\n}" ::"l"(place),
      "r"(__float_as_uint(posted.value[0])), "r"(__float_as_uint(posted.value[1])),
      "r"(__float_as_uint(posted.value[2])), "r"(posted.tag)
      : "memory");
}

NORMD_DEVICE Posted look_at(const Posted* place) {
  unsigned word[4];
  asm volatile(
      "{\n.reg .b64 low, high;\n.reg .b128 all;\n"
      "ld.relaxed.gpu.global.b128 all, [%4];\n"
      "mov.b128 {low, high}, all;\nmov.b64 {%0, %1}, low;\nmov.b64 {%2, %3}, high;\n}"
      : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
      : "l"(place)
      : "memory");
  return {{__uint_as_float(word[0]), __uint_as_float(word[1]), __uint_as_float(word[2])}, word[3]};
}

// Waits until all `count` places from `from` on carry the tag. Each lane gets those of its own
// number, and of that plus 32, 64, ..., as far as there are any. By whole warps.
template <int count, int held>
NORMD_DEVICE void take_posted(const Posted* from, unsigned tag, Posted (&taken)[held]) {
  const int lane = thread_index() % warp_lanes;
  bool all;
  do {
    all = true;
#pragma unroll
    for (int i = 0; i < held; ++i) {
      const int place = lane + i * warp_lanes;
      if (place < count) taken[i] = look_at(from + place);
    }
#pragma unroll
    for (int i = 0; i < held; ++i) {
      all = all && (lane + i * warp_lanes >= count || taken[i].tag == tag);
    }
  } while (!all);
}

// What was there before.
NORMD_DEVICE unsigned long long count_up(unsigned long long* place, unsigned long long by) {
  unsigned long long before;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(place), "l"(by)
               : "memory");
  return before;
}

// A number that one launch leaves to the next.
NORMD_DEVICE unsigned load_left(const unsigned* place) {
  unsigned left;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(left) : "l"(place) : "memory");
  return left;
}
NORMD_DEVICE void leave_to_next(unsigned* place, unsigned value) {
  asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
}
NORMD_DEVICE void leave_to_next(unsigned long long* place, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
}

}  // namespace normd
