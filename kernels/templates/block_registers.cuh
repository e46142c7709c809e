// block_registers: `row_warps` warps own a row and keep it in registers, packed as it was loaded
// and converted on each use; a block holds `rows_per_block` such rows. x is read once and y written
// once; gamma and beta are asked for before the first reduction is waited for, where registers
// allow. The one reduction costs one barrier of the row's warps: they leave their sums in scratch,
// and every warp adds them all up. The main template, for rows from about a thousand elements up to
// what the registers hold.
#include "row_reduce.cuh"
#include "row_slice.cuh"

namespace normd {

constexpr int row_threads = block_threads / rows_per_block;
constexpr int row_warps = row_threads / warp_lanes;

// Fewer registers per thread, so that more blocks hide each other's waits; gamma and beta are the
// first that have to go without.
constexpr int blocks_wanted = larger_of(1, threads_per_sm / block_threads);
constexpr int registers_there = registers_for(blocks_wanted);

static_assert(row_threads * rows_per_block == block_threads, "as the Launch says");
static_assert(row_warps * warp_lanes == row_threads, "rows do not share a warp");
static_assert(shared_bytes == RowScratch<row_warps, rows_per_block>::bytes, "as the Launch says");

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {
  using RowSlice = Slice<row_threads>;
  constexpr int x_registers = RowSlice::packs * pack_registers<x_type>;
  using RowAffine = Affine<RowSlice, x_registers, registers_there>;
  constexpr bool floats_fit =
      fits_as_floats(RowSlice::packs, RowAffine::held_registers, registers_there);
  const int group = thread_index() / row_threads;
  const RowSlice slice{thread_index() % row_threads};
  RowScratch<row_warps, rows_per_block> scratch(group, slice.member / warp_lanes);
  const long long rows = arguments.rows;

  for (long long row = block_index() * rows_per_block + group; row < rows;
       row += grid_blocks() * rows_per_block) {
    typename RowSlice::Packs x;
    slice.load(x_row(arguments, row), x);
    RowAffine affine(arguments);
    affine.ask(slice);

    const Moments found = moments_of_slice<fine>(slice, x, divisor_of(row_columns), scratch);
    slice.template keep<floats_fit>(x);
    const RowMoments moments = row_moments(found, arguments.epsilon);

    if (moments.rescue) {
      // One row per block: all its threads agree and may use barriers. Several: the row's first
      // warp goes alone, since the other rows' warps are elsewhere.
      if constexpr (rows_per_block == 1) {
        rescue_row<CompiledRow, row_threads>(arguments, row, slice.member, true, scratch.doubles());
      } else if (slice.member < warp_lanes) {
        rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
      }
    } else {
      slice.template store<floats_fit>(x, moments, affine, y_row(arguments, row));
      if (slice.member == 0) store_statistics(arguments, row, moments);
    }
  }
}

}  // namespace normd
