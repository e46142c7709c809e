// cluster_registers: the warps of `cluster` blocks own a row, each a part of it in registers. Every
// warp takes the moments of its part by itself and sends them into the shared memory of all the
// blocks; then each of them knows all parts. x is read once and y written once; gamma and beta are
// asked for before anything is waited for. No barrier but the one that sees all blocks begin, which
// the loads hide. For rows so few that one block each would leave most of the chip idle.
#include "cluster_moments.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int block_warps = block_threads / warp_lanes;
constexpr int parts = cluster * block_warps;

using Part = RowPart<parts, row_columns / parts>;
using PartSlice = Part::SliceOf<warp_lanes>;
using PartAffine = Affine<PartSlice, PartSlice::packs * pack_registers<x_type>>;

// Two sides, which rows take in turns: who writes a side again has had the other one from
// everybody, who sends it after reading.
struct Area {
  Message moments[2][parts];
  Arrival came[2];
};

static_assert(block_warps * warp_lanes == block_threads, "as the Launch says");
static_assert(rows_per_block == 1, "as the Launch says");
static_assert(parts <= warp_lanes && (parts & (parts - 1)) == 0, "a lane for each part");
static_assert(shared_bytes == static_cast<int>(sizeof(Area)), "as the Launch says");

NORMD_DEVICE void expect_all(Arrival* came) {
  arrival_expect(came, parts * static_cast<int>(sizeof(Message)));
}

NORMD_DEVICE void begin(Area& area) {
  for (int side = 0; side < 2; ++side) arrival_begin(&area.came[side]);
  publish_arrivals();
  for (int side = 0; side < 2; ++side) expect_all(&area.came[side]);
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  // As floats x is one register per element.
  constexpr bool floats_fit =
      PartSlice::packs * pack + PartAffine::held_registers + other_registers <= registers_for(1);
  Area& area = *shared_memory<Area>();
  const int warp = thread_index() / warp_lanes;
  const Part part{static_cast<int>(block_index() % cluster) * block_warps + warp};
  const PartSlice slice = part.template slice<warp_lanes>();
  RowScratch<1, 1> of_warp(0, 0);
  NormArguments of_part = arguments;
  if constexpr (has_gamma) of_part.gamma = part.of(static_cast<const gamma_type*>(arguments.gamma));
  if constexpr (has_beta) of_part.beta = part.of(static_cast<const beta_type*>(arguments.beta));
  if (thread_index() == 0) begin(area);
  cluster_arrive();

  unsigned turn = 0;
  for (long long row = block_index() / cluster; row < arguments.rows;
       row += grid_blocks() / cluster, ++turn) {
    PartSlice::Packs x;
    slice.load(part.of(x_row(arguments, row)), x);
    PartAffine affine(of_part);
    affine.ask(slice);

    const Moments own = moments_of_slice<fine>(slice, x, part.divisor(), of_warp);
    slice.template keep<floats_fit>(x);
    if (turn == 0) cluster_wait();
    const int side = static_cast<int>(turn & 1u);
    if (slice.member < cluster) {
      send_message(slice.member, &area.moments[side][part.rank], message_of(own),
                   &area.came[side]);
    }
    arrival_wait(&area.came[side], (turn >> 1) & 1u);
    const RowMoments of_row = row_moments(
        moments_of_parts<parts, Part::columns_max>(area.moments[side]), arguments.epsilon);
    if (thread_index() == 0) expect_all(&area.came[side]);

    // Everybody has read the row.
    if (of_row.rescue) {
      if (part.rank == 0) {
        rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
      }
    } else {
      slice.template store<floats_fit>(x, of_row, affine, part.of(y_row(arguments, row)));
      if (part.rank == 0 && slice.member == 0) store_statistics(arguments, row, of_row);
    }
  }
  if (turn == 0) cluster_wait();
}

}  // namespace normd
