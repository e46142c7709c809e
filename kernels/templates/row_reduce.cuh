// RowScratch: sums over the `warps` warps that share a row, of which a block holds `rows_held`.
// One barrier of the row's warps per sum. Sums go by turns to two sides of the scratch: who writes
// a side again has passed the barrier of the other, which everybody reaches after reading.
#pragma once

#include "barrier.cuh"
#include "moments.cuh"

namespace normd {

template <int warps, int rows_held>
struct RowScratch {
  using Barrier = GroupBarrier<warps * warp_lanes>;
  static constexpr int padded = (warps + 3) / 4 * 4;  // rows of scratch start on 16 bytes
  static constexpr int doubles_bytes = rows_held == 1 ? 8 * ((warps + 1) / 2 * 2) : 0;
  static constexpr int row_floats = warps == 1 ? 0 : 4 * padded;
  static constexpr int bytes = warps == 1 ? 0 : doubles_bytes + 4 * row_floats * rows_held;
  // Few warps are added up by broadcast reads, many by shuffles: fewer instructions per warp.
  static constexpr bool broadcast = warps <= 4;
  static constexpr int lanes = warps <= 8 ? 8 : warps <= 16 ? 16 : 32;

  fp32* sums;  // of the thread's row: on each side the first of pairs, then the second
  int warp;
  Barrier barrier;
  int side = 0;

  // Of a row whose `row_floats` lie somewhere else, on 16 bytes.
  NORMD_DEVICE RowScratch(fp32* row_sums, int warp_of_row, int row_held)
      : sums(row_sums), warp(warp_of_row), barrier{row_held} {}

  NORMD_DEVICE RowScratch(int row_held, int warp_of_row) : warp(warp_of_row), barrier{row_held} {
    if constexpr (warps > 1) {
      sums = shared_memory<fp32>() + doubles_bytes / 4 + row_held * row_floats;
    }
  }

  NORMD_DEVICE double* doubles() const { return warps > 1 ? shared_memory<double>() : nullptr; }

  NORMD_DEVICE void sum_pair(float& first, float& second) {
    float pair[2] = {first, second};
    lanes_sums<warp_lanes>(pair);
    if constexpr (warps > 1) {
      fp32* const firsts = sums + side * 2 * padded;
      fp32* const seconds = firsts + padded;
      side ^= 1;
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
    const Pack<fp32, 4> part = load_shared<fp32, 4>(from);
    float total = part.element[0].value + part.element[1].value;
    if constexpr (warps == 3) total += part.element[2].value;
    if constexpr (warps == 4) total += part.element[2].value + part.element[3].value;
    return total;
  }
};

// The moments of what the threads of a slice hold, whose sums go through `scratch`.
template <bool fine, typename RowSlice, typename Packs, typename Scratch>
NORMD_DEVICE Moments moments_of_slice(const RowSlice& slice, const Packs& x, const Divisor& count,
                                      Scratch& scratch) {
  return moments_of<fine>(
      count,
      [&](float from, float& first, float& second) {
        slice.deviations(x, from, first, second);
        scratch.sum_pair(first, second);
      },
      [&](float from, float& first, float& second) {
        slice.deviations_again(x, from, first, second);
        scratch.sum_pair(first, second);
      });
}

}  // namespace normd
