// block_registers: `row_warps` warps own a row and keep it in registers, packed as it was loaded
// and converted on each use; a block holds `rows_per_block` such rows. x is read once and y written
// once; gamma and beta are asked for before the first reduction is waited for, where registers
// allow. The one reduction costs one barrier of the row's warps: they leave their sums in scratch,
// and every warp adds them all up. What most rows need is one stretch of instructions with one
// branch, to what the others need. The main template, for rows from about a thousand elements up to
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

using RowSlice = Slice<row_threads>;
constexpr int x_registers = RowSlice::packs * pack_registers<x_type>;
using RowAffine = Affine<RowSlice, x_registers, registers_there>;
constexpr bool floats_fit =
    fits_as_floats(RowSlice::packs, RowAffine::held_registers, registers_there);

// The rare way, of a row that is not plain.
template <typename Scratch>
NORMD_DEVICE void work_again(const NormArguments& arguments, long long row, const RowSlice& slice,
                             RowSlice::Packs& x, const FirstMoments& first,
                             const RowAffine& affine, Scratch& scratch) {
  slice.template keep<false>(x);
  const Moments found = first.near ? first.found
                                   : second_moments_of_slice(slice, x, first.found.correction,
                                                             divisor_of(row_columns), scratch);
  const RowMoments moments = row_moments(found, arguments.epsilon);
  if (!moments.rescue) {
    slice.template store_about<true>(x, moments, affine, y_row(arguments, row));
    if (slice.member == 0) store_statistics(arguments, row, moments);
  } else if constexpr (rows_per_block == 1) {
    rescue_row<CompiledRow, row_threads>(arguments, row, slice.member, true, scratch.doubles());
  } else if (slice.member < warp_lanes) {
    // All threads of the block may use barriers, if they agree. Here they need not, since the other
    // rows' warps are elsewhere, and the row's first warp goes alone.
    rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {
  const int group = thread_index() / row_threads;
  const RowSlice slice{thread_index() % row_threads};
  RowScratch<row_warps, rows_per_block> scratch(group, slice.member / warp_lanes);
  const long long row = block_index() * rows_per_block + group;
  if (rows_per_block > 1 && row >= arguments.rows) return;

  RowSlice::Packs x;
  slice.load(x_row(arguments, row), x);
  RowAffine affine(arguments);
  affine.ask(slice);

  float sum;
  float square_sum;
  slice.sums(x, sum, square_sum);
  loads_stay();
  scratch.sum_pair(sum, square_sum);
  slice.template keep<floats_fit>(x);
  const FirstMoments first = first_moments(sum, square_sum, arguments.epsilon);
  if (first.plain) {
    slice.template store_about<false>(x, first.row, affine, y_row(arguments, row));
    if (slice.member == 0) store_statistics(arguments, row, first.row);
  } else {
    work_again(arguments, row, slice, x, first, affine, scratch);
  }
}

}  // namespace normd
