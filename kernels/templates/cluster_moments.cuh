// PartMessages: how the parts of a row that belong to the blocks of a cluster tell each other their
// moments, and the row's out of these: as Chan, Golub and LeVeque put parts together (1983), with
// means kept as a high and a low part.
#pragma once

#include "cluster.cuh"
#include "row_part.cuh"

namespace normd {

// In each block's shared memory: the moments of all `parts`, which have `columns` each, on two
// sides that rows take in turns. Who writes a side again has had the other one from everybody, who
// sends it after reading. One side is enough for one row.
template <int parts, int columns, int sides = 2>
struct PartMessages {
  Message moments[sides][parts];
  Arrival came[sides];

  // By one thread; the arrivals are published between the two.
  NORMD_DEVICE void begin() {
    for (int side = 0; side < sides; ++side) arrival_begin(&came[side]);
  }
  NORMD_DEVICE void expect() {
    for (int side = 0; side < sides; ++side) expect(side);
  }

  // By whole warps: sends a part's moments to all blocks, and waits for those of all parts. `lane`:
  // of the part's threads; one thread of those that wait `leads`. Every block comes to the same
  // numbers, in the same order of additions. `turn`: rows before this one. `note`: that the first
  // part sends along to all.
  NORMD_DEVICE Moments exchange(const Moments& own, int part, int lane, bool leads = false,
                                unsigned turn = 0, float note = 0.0f) {
    const int side = static_cast<int>(turn % sides);
    if (lane < cluster) {
      const Message message{{own.mean, own.correction, own.squares, note}};
      send_message(lane, &moments[side][part], message, &came[side]);
    }
    arrival_wait(&came[side], turn / sides % 2);
    const Moments of_row = put_together(moments[side]);
    // The next use of this side waits for the one of the other, which comes after everybody's read.
    if (sides > 1 && leads) expect(side);
    return of_row;
  }
  // After the exchange, what the first part sent along.
  NORMD_DEVICE float note(unsigned turn) const { return moments[turn % sides][0].value[3]; }

 private:
  NORMD_DEVICE void expect(int side) {
    arrival_expect(&came[side], parts * static_cast<int>(sizeof(Message)));
  }

  static NORMD_DEVICE Moments put_together(const Message* messages) {
    const Message theirs = messages[thread_index() % parts];
    const float base = messages[0].value[0];
    const float distance = (theirs.value[0] - base) + theirs.value[1];
    const float mean_distance = lanes_sum<parts>(distance) * (1.0f / parts);
    const float off = distance - mean_distance;
    const float squares =
        fused_multiply_add(off * static_cast<float>(columns), off, theirs.value[2]);
    return about(base, mean_distance, lanes_sum<parts>(squares));
  }
};

}  // namespace normd
