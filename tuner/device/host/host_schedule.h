// HostSchedule: the order in which the host device runs blocks and threads. A correct kernel gives
// the same bits under all of them; a missing barrier usually does not. Plain value; any thread.
#pragma once

#include <cstdint>

namespace normd {

enum class ScheduleOrder : std::uint8_t {
  ascending = 1,   // the lowest block, warp and lane first
  descending = 2,  // the highest first
  shuffled = 3,    // in an order drawn from the seed, drawn anew at every wait
};

struct HostSchedule {
  ScheduleOrder order = ScheduleOrder::ascending;
  std::uint32_t seed = 1;  // of `shuffled` only
  // What every byte of shared memory is at a block's start. NaN shows most reads of what was never
  // written; a kernel that recovers from NaN hides them, but not from a plain number (0x3f: 0.75).
  unsigned char shared_fill = 0xff;
};

}  // namespace normd
