// RowScratch: sums over the `warps` warps that share a row, or `rows_together` at once, of which a
// block holds `rows_held`. One barrier of the row's warps per sum. Sums go by turns to two sides of
// the scratch: who writes a side again has passed the barrier of the other, which everybody reaches
// after reading.
#pragma once

#include "barrier.cuh"
#include "moments.cuh"

namespace normd {

template <int warps, int rows_held, int rows_together = 1>
struct RowScratch {
  using Barrier = GroupBarrier<warps * warp_lanes>;
  static constexpr int padded = (warps + 3) / 4 * 4;  // rows of scratch start on 16 bytes
  static constexpr int doubles_bytes = rows_held == 1 ? 8 * ((warps + 1) / 2 * 2) : 0;
  static constexpr int warp_floats = 2 * rows_together;  // on each of two sides
  static constexpr int row_floats = warps == 1 ? 0 : 2 * warp_floats * padded;
  static constexpr int bytes = warps == 1 ? 0 : doubles_bytes + 4 * row_floats * rows_held;
  // Few warps are added up by broadcast reads, many by shuffles: fewer instructions for each warp.
  static constexpr bool broadcast = warps <= 4;
  static constexpr int lanes = warps <= 8 ? 8 : warps <= 16 ? 16 : 32;

  fp32* places;  // of the thread's row or rows: on each side those of each warp
  int warp;
  Barrier barrier;
  int side = 0;

  // Of a row whose `row_floats` lie somewhere else, on 16 bytes.
  NORMD_DEVICE RowScratch(fp32* row_sums, int warp_of_row, int row_held)
      : places(row_sums), warp(warp_of_row), barrier{row_held} {}

  NORMD_DEVICE RowScratch(int row_held, int warp_of_row) : warp(warp_of_row), barrier{row_held} {
    if constexpr (warps > 1) {
      places = shared_memory<fp32>() + doubles_bytes / 4 + row_held * row_floats;
    }
  }

  NORMD_DEVICE double* doubles() const { return warps > 1 ? shared_memory<double>() : nullptr; }

  NORMD_DEVICE void sum_pair(float& first, float& second) {
    float sums[warp_floats] = {first, second};
    sum_all(sums);
    first = sums[0];
    second = sums[1];
  }

  NORMD_DEVICE void sum_all(float (&sums)[warp_floats]) {
    lanes_sums<warp_lanes>(sums);
    if constexpr (warps > 1) {
      fp32* const all = places + side * warp_floats * padded;
      side ^= 1;
      Pack<fp32, warp_floats> mine;
#pragma unroll
      for (int i = 0; i < warp_floats; ++i) mine.element[i].value = sums[i];
      // By every lane, which all have the same: no branch.
      store_shared(all + warp_floats * warp, mine);
      barrier.wait();
      if constexpr (broadcast) {
        add_up(all, sums);
      } else {
        const int lane = thread_index() % lanes;
        Pack<fp32, warp_floats> theirs = {};
        if (warps == lanes || lane < warps) {
          theirs = load_shared<fp32, warp_floats>(all + warp_floats * lane);
        }
        to_floats(theirs, sums);
        lanes_sums<lanes>(sums);
      }
    }
  }

 private:
  static NORMD_DEVICE void add_up(const fp32* all, float (&sums)[warp_floats]) {
    constexpr int warps_at_once = 4 / warp_floats;  // of an access
#pragma unroll
    for (int w = 0; w < warps; w += warps_at_once) {
      const Pack<fp32, 4> some = load_shared<fp32, 4>(all + warp_floats * w);
#pragma unroll
      for (int i = 0; i < warp_floats; ++i) {
        float sum = some.element[i].value;
        if (warps_at_once == 2 && w + 1 < warps) sum += some.element[(i + 2) % 4].value;
        sums[i] = w == 0 ? sum : sums[i] + sum;
      }
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
