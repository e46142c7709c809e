// What the templates that hold rows in registers have in common for their plans and launches.
// Pure functions; any thread.
#pragma once

#include <cstdint>

#include "kernels/device_spec.h"
#include "kernels/launch.h"

namespace normd {

// Cycles on recent chips: one exchange between lanes, one barrier with the traffic around it, and
// all that is issued for one element, since a warp issues at most one instruction per cycle.
inline constexpr double shuffle_cycles = 30;
inline constexpr double barrier_cycles = 60;
inline constexpr double element_cycles = 7;

// Whose blocks have `rows_per_block` rows each, and end with them.
inline Launch one_turn(int block, std::int64_t rows_per_block, int shared_bytes) {
  return {.entries = {"normd_kernel"},
          .block = block,
          .shared_bytes = shared_bytes,
          .rows_per_block = rows_per_block,
          .strides = false};
}

// Whether so many blocks are one for each multiprocessor at least: else blocks of one row are as
// good, and spread further.
inline bool fills_device(std::int64_t blocks, const DeviceSpec& spec) {
  return blocks >= spec.sm_count;
}

// Whether so many threads are four warps for each scheduler: else nothing is gained by giving each
// fewer registers.
inline bool fills_schedulers(std::int64_t threads, const DeviceSpec& spec) {
  return threads >= std::int64_t{spec.sm_count} * 512;
}

// Instructions per element: conversions, deviations, normalising; an access is shared by its pack.
// Elements moved one by one take four accesses each (x, y, gamma, beta), and there is one place to
// issue an access where four instructions are issued; and a test for the row's end.
inline double element_instructions(int pack) {
  return pack == 1 ? 30 : 9 + 8.0 / pack;
}

}  // namespace normd
