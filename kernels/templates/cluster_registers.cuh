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

using Messages = PartMessages<parts, Part::columns_max>;

static_assert(block_warps * warp_lanes == block_threads, "as the Launch says");
static_assert(rows_per_block == 1, "as the Launch says");
static_assert(parts <= warp_lanes && (parts & (parts - 1)) == 0, "a lane for each part");
static_assert(shared_bytes == static_cast<int>(sizeof(Messages)), "as the Launch says");

NORMD_DEVICE void begin(Messages& messages) {
  messages.begin();
  publish_arrivals();
  messages.expect();
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  constexpr bool floats_fit =
      fits_as_floats(PartSlice::packs, PartAffine::held_registers, registers_for(1));
  Messages& messages = *shared_memory<Messages>();
  const int warp = thread_index() / warp_lanes;
  const Part part{static_cast<int>(block_index() % cluster) * block_warps + warp};
  const PartSlice slice = part.template slice<warp_lanes>();
  RowScratch<1, 1> of_warp(0, 0);
  NormArguments of_part = arguments;
  if constexpr (has_gamma) of_part.gamma = part.of(static_cast<const gamma_type*>(arguments.gamma));
  if constexpr (has_beta) of_part.beta = part.of(static_cast<const beta_type*>(arguments.beta));
  if (thread_index() == 0) begin(messages);
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
    const RowMoments of_row = row_moments(
        messages.exchange(own, part.rank, slice.member, thread_index() == 0, turn),
        arguments.epsilon);

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
