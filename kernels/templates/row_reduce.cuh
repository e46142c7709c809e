// RowScratch: sums over the `warps` warps that share a row, of which a block holds `rows_held`.
// One barrier of the block per sum. Two sums in turn need no barrier between them, because they
// have different scratch: who writes one again has passed the barrier of the other, which everybody
// reaches after reading.
#pragma once

#include "barrier.cuh"

namespace normd {

template <int warps, int rows_held, typename Barrier = BlockBarrier>
struct RowScratch {
  static constexpr int padded = (warps + 3) / 4 * 4;  // rows of scratch start on 16 bytes
  static constexpr int doubles_bytes = rows_held == 1 ? 8 * ((warps + 1) / 2 * 2) : 0;
  static constexpr int sums_bytes = 4 * padded * rows_held;
  static constexpr int bytes = warps == 1 ? 0 : doubles_bytes + 3 * sums_bytes;
  static constexpr int row_floats = warps == 1 ? 0 : 3 * padded;
  // Few warps are added up by broadcast reads, many by shuffles: fewer instructions per warp.
  static constexpr bool broadcast = warps <= 4;
  static constexpr int lanes = warps <= 8 ? 8 : warps <= 16 ? 16 : 32;

  fp32* sums;    // of the thread's row
  fp32* firsts;  // of pairs
  fp32* seconds;
  int warp;
  Barrier barrier;

  // Of a row whose `row_floats` lie somewhere else, on 16 bytes.
  NORMD_DEVICE RowScratch(fp32* row_sums, int warp_of_row, Barrier row_barrier)
      : sums(row_sums),
        firsts(sums + padded),
        seconds(firsts + padded),
        warp(warp_of_row),
        barrier(row_barrier) {}

  NORMD_DEVICE RowScratch(int row_held, int warp_of_row) : warp(warp_of_row) {
    if constexpr (warps > 1) {
      sums = shared_memory<fp32>() + doubles_bytes / 4 + row_held * padded;
      firsts = sums + sums_bytes / 4;
      seconds = firsts + sums_bytes / 4;
    }
  }

  NORMD_DEVICE double* doubles() const { return warps > 1 ? shared_memory<double>() : nullptr; }

  NORMD_DEVICE float sum(float value) const {
    value = lanes_sum<warp_lanes>(value);
    if constexpr (warps > 1) {
      if (thread_index() % warp_lanes == 0) sums[warp] = fp32{value};
      barrier.wait();
      value = add_up(sums);
    }
    return value;
  }

  NORMD_DEVICE void sum_pair(float& first, float& second) const {
    float pair[2] = {first, second};
    lanes_sums<warp_lanes>(pair);
    if constexpr (warps > 1) {
      if (thread_index() % warp_lanes == 0) {
        firsts[warp] = fp32{pair[0]};
        seconds[warp] = fp32{pair[1]};
      }
      barrier.wait();
      if constexpr (broadcast) {
        pair[0] = add_up(firsts);
        pair[1] = add_up(seconds);
      } else {
        pair[0] = of_lane(firsts);
        pair[1] = of_lane(seconds);
        lanes_sums<lanes>(pair);
      }
    }
    first = pair[0];
    second = pair[1];
  }

 private:
  static NORMD_DEVICE float of_lane(const fp32* from) {
    const int lane = thread_index() % lanes;
    return warps == lanes || lane < warps ? from[lane].value : 0.0f;
  }

  static NORMD_DEVICE float add_up(const fp32* from) {
    if constexpr (broadcast) {
      const Pack<fp32, 4> part = load_shared<fp32, 4>(from);
      float total = part.element[0].value + part.element[1].value;
      if constexpr (warps == 3) total += part.element[2].value;
      if constexpr (warps == 4) total += part.element[2].value + part.element[3].value;
      return total;
    } else {
      return lanes_sum<lanes>(of_lane(from));
    }
  }
};

}  // namespace normd
