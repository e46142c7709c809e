// cluster_registers: the warps of `cluster` blocks own a row, each a part of it in registers. Every
// warp takes the moments of its part by itself and sends them into the shared memory of all the
// blocks; then each of them knows all parts. x is read once, asked for before all else, and y
// written once; gamma and beta are asked for when x has come, before the other parts' moments are
// waited for. No barrier but the one that sees all blocks begin, which the loads hide; a cluster
// has one row. For rows so few that one block each would leave most of the chip idle.
#include "cluster_moments.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int block_warps = block_threads / warp_lanes;
constexpr int parts = cluster * block_warps;

using Part = RowPart<parts, row_columns / parts>;
using PartSlice = Part::SliceOf<warp_lanes>;
using PartAffine = Affine<PartSlice, PartSlice::packs * pack_registers<x_type>>;

using Messages = PartMessages<parts, Part::columns_max, 1>;

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
  const NormArguments of_part = with_affine_of(arguments, part);

  const long long row = block_index() / cluster;
  PartSlice::Packs x;
  slice.load(part.of(x_row(arguments, row)), x);
  if (thread_index() == 0) begin(messages);
  cluster_arrive();
  float sum;
  float square_sum;
  slice.sums(x, sum, square_sum);
  // Not before: a wait for x would be one for these, too.
  loads_stay();
  PartAffine affine(of_part);
  affine.ask(slice);

  const Moments own =
      moments_of_sums<fine>(slice, x, sum, square_sum, part.divisor(), of_warp);
  slice.template keep<floats_fit>(x);
  cluster_wait();
  const RowMoments of_row = row_moments(
      messages.exchange(own, part.rank, slice.member), arguments.epsilon);

  // Everybody has read the row, and nobody will write to this block any more.
  if (!of_row.rescue) {
    slice.store(x, of_row, affine, part.of(y_row(arguments, row)));
    if (part.rank == 0 && slice.member == 0) store_statistics(arguments, row, of_row);
  } else if (part.rank == 0) {
    rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
  }
}

}  // namespace normd
