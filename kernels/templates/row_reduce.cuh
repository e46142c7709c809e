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
  // Few warps are added up by broadcast reads, many by shuffles: fewer instructions for each warp.
  static constexpr bool broadcast = warps <= 4;
  static constexpr int lanes = warps <= 8 ? 8 : warps <= 16 ? 16 : 32;

  fp32* sums;  // of the thread's row: on each side a pair for each warp
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
      fp32* const pairs = sums + side * 2 * padded;
      side ^= 1;
      // By every lane, which all have the same: no branch.
      store_shared(pairs + 2 * warp, Pack<fp32, 2>{{{pair[0]}, {pair[1]}}});
      barrier.wait();
      if constexpr (broadcast) {
        add_up(pairs, pair);
      } else {
        const int lane = thread_index() % lanes;
        Pack<fp32, 2> theirs = {};
        if (warps == lanes || lane < warps) theirs = load_shared<fp32, 2>(pairs + 2 * lane);
        to_floats(theirs, pair);
        lanes_sums<lanes>(pair);
      }
    }
    first = pair[0];
    second = pair[1];
  }

 private:
  static NORMD_DEVICE void add_up(const fp32* pairs, float (&sum)[2]) {
    const Pack<fp32, 4> two = load_shared<fp32, 4>(pairs);
    sum[0] = two.element[0].value + two.element[2].value;
    sum[1] = two.element[1].value + two.element[3].value;
    if constexpr (warps > 2) {
      const Pack<fp32, 4> more = load_shared<fp32, 4>(pairs + 4);
      sum[0] += warps == 3 ? more.element[0].value : more.element[0].value + more.element[2].value;
      sum[1] += warps == 3 ? more.element[1].value : more.element[1].value + more.element[3].value;
    }
  }
};

// The moments of what the threads of a slice hold, whose sums go through `scratch`, of a second
// pass about `mean`.
template <typename RowSlice, typename Packs, typename Scratch>
NORMD_DEVICE Moments second_moments_of_slice(const RowSlice& slice, const Packs& x, float mean,
                                             const Divisor& count, Scratch& scratch) {
  float deviation_sum;
  float square_sum;
  slice.deviations(x, mean, deviation_sum, square_sum);
  scratch.sum_pair(deviation_sum, square_sum);
  return second_moments(mean, deviation_sum, square_sum, count);
}

// The moments of what the threads of a slice hold, out of each thread's sums, which go through
// `scratch`.
template <bool fine, typename RowSlice, typename Packs, typename Scratch>
NORMD_DEVICE Moments moments_of_sums(const RowSlice& slice, const Packs& x, float sum,
                                     float square_sum, const Divisor& count, Scratch& scratch) {
  scratch.sum_pair(sum, square_sum);
  const Moments found = moments_from(0.0f, sum, square_sum, count);
  if (near_enough(found, sum, fine)) return found;
  return second_moments_of_slice(slice, x, found.correction, count, scratch);
}

// The same, with the sums taken here.
template <bool fine, typename RowSlice, typename Packs, typename Scratch>
NORMD_DEVICE Moments moments_of_slice(const RowSlice& slice, const Packs& x, const Divisor& count,
                                      Scratch& scratch) {
  float sum;
  float square_sum;
  slice.sums(x, sum, square_sum);
  return moments_of_sums<fine>(slice, x, sum, square_sum, count, scratch);
}

}  // namespace normd
