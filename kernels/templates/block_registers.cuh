// block_registers: `row_warps` warps own a row and keep it in registers, packed as it was loaded
// and converted on each use; a block holds `rows_per_block` such rows, of which the same warps may
// have `rows_per_group` in flight together. x is read once and y written once; gamma and beta are
// asked for before the first reduction is waited for, where registers allow. The one reduction
// costs one barrier of the row's warps: they leave their sums in scratch, and every warp adds them
// all up. What most rows need is one stretch of instructions with one branch, to what the others
// need. The main template, for rows from about a thousand elements up to what the registers hold.
#include "row_group.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int groups = rows_per_block / rows_per_group;
constexpr int row_threads = block_threads / groups;
constexpr int row_warps = row_threads / warp_lanes;

// Fewer registers per thread, so that more blocks hide each other's waits; gamma and beta are the
// first that have to go without.
constexpr int blocks_wanted = larger_of(1, threads_per_sm / block_threads);
constexpr int registers_there = registers_for(blocks_wanted);

using RowSlice = Slice<row_threads>;
using Rows = RowGroup<RowSlice, rows_per_group, 1, true>;
using Scratch = RowScratch<row_warps, groups, rows_per_group>;
constexpr int x_registers = rows_per_group * RowSlice::packs * pack_registers<x_type>;
using RowAffine = Affine<RowSlice, x_registers, registers_there>;
constexpr bool floats_fit = fits_as_floats(rows_per_group * RowSlice::packs,
                                           RowAffine::held_registers, registers_there);

static_assert(row_threads * groups == block_threads && groups * rows_per_group == rows_per_block,
              "as the Launch says");
static_assert(rows_per_group == 1 || groups == 1, "the kernel counts on it");
static_assert(row_warps * warp_lanes == row_threads, "rows do not share a warp");
static_assert(shared_bytes == Scratch::bytes, "as the Launch says");

// Told that a row is the block's, the compilers keep where it lies in registers that all threads
// share: 2 % faster for two long rows, up to 11 % slower for one short one.
NORMD_DEVICE int group_of_thread() {
  if constexpr (rows_per_group > 1) return 0;
  return thread_index() / row_threads;
}

// The rare way, row by row, where not all are plain.
NORMD_DEVICE void work_again(const NormArguments& arguments, long long row, const RowSlice& slice,
                             RowSlice::Packs& x, const FirstMoments& first,
                             const RowAffine& affine, Scratch& scratch) {
  slice.template keep<false>(x);
  const Moments found = first.near ? first.found
                                   : second_moments_of_slice(slice, x, first.found.correction,
                                                             divisor_of(row_columns), scratch);
  const RowMoments moments = first.plain ? first.row : row_moments(found, arguments.epsilon);
  if (!moments.rescue) {
    slice.template store_about<true>(x, moments, affine, y_row(arguments, row));
    if (slice.member == 0) store_statistics(arguments, row, moments);
  } else if constexpr (groups == 1) {
    rescue_row<CompiledRow, row_threads>(arguments, row, slice.member, true, scratch.doubles());
  } else if (slice.member < warp_lanes) {
    // All threads of the block may use barriers, if they agree. Here they need not, since the other
    // rows' warps are elsewhere, and the row's first warp goes alone.
    rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {
  const int group = group_of_thread();
  const int member = thread_index() % row_threads;
  Scratch scratch(group, member / warp_lanes);
  const long long row = block_index() * rows_per_block + group;
  if (groups > 1 && row >= arguments.rows) return;

  Rows rows{arguments, {member}, row};
  rows.load<x_hint_of(x_evict_last)>();
  RowAffine affine(arguments);
  affine.ask(rows.slice);

  Rows::Sums sums;
  rows.sums(sums);
  loads_stay();
  scratch.sum_all(sums);
  rows.keep<floats_fit>();
  const FirstOfRows<rows_per_group> first = rows.first_moments(sums);
  if (rows.plain(first)) {
    rows.store(first, affine);
  } else {
    rows.each([&](int r) {
      work_again(arguments, rows.row(r), rows.slice, rows.x[r], first.row[r], affine, scratch);
    });
  }
}

}  // namespace normd
