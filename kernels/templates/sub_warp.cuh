// sub_warp: a group of `lanes_per_row` neighbouring lanes owns a row and keeps it in registers,
// packed; groups of a warp own neighbouring rows, so that a warp's access is one stretch of memory.
// Each group has `rows_per_group` rows, in flight together. x is read once and y written once;
// gamma and beta are read once per thread, or once per block into shared memory. All exchange
// between lanes is by shuffles. For narrow rows, from one element to a few thousand.
#include "row_group.cuh"
#include "shared_affine.cuh"

namespace normd {

constexpr int groups_per_block = block_threads / lanes_per_row;
using RowSlice = Slice<lanes_per_row>;
using Rows = RowGroup<RowSlice, rows_per_group, groups_per_block, false>;
constexpr int blocks_wanted = larger_of(1, threads_per_sm / block_threads);
constexpr int registers_there = registers_for(blocks_wanted);

static_assert(rows_per_block == groups_per_block * rows_per_group, "as the Launch says");
static_assert(warp_lanes % lanes_per_row == 0, "rows do not cross warps");

// The rows of a group whose bit is set in `rescue`; `first` is the group's first. The whole warp
// comes along, for its shuffles.
NORMD_DEVICE void rescue_rows(const NormArguments& arguments, long long first, int member,
                              unsigned rescue) {
#pragma unroll 1
  for (int r = 0; r < rows_per_group; ++r) {
    const long long row = first + r * groups_per_block;
    const bool wanted = (rescue >> r & 1u) != 0 && row < arguments.rows;
    const long long source = row < arguments.rows ? row : arguments.rows - 1;
    rescue_row<CompiledRow, lanes_per_row>(arguments, source, member, wanted, nullptr);
  }
}

template <typename RowAffine>
NORMD_DEVICE void work_on_rows(const NormArguments& arguments, RowAffine& affine) {
  constexpr bool floats_fit = fits_as_floats(rows_per_group * RowSlice::packs, 0, registers_there);
  const long long row = block_index() * rows_per_block + thread_index() / lanes_per_row;
  // Every lane of a warp takes part in every shuffle, with a row or without.
  Rows rows{arguments, {thread_index() % lanes_per_row}, row};
  rows.load<x_hint_of(x_evict_last)>();
  affine.ask(rows.slice);

  Rows::Sums sums;
  rows.sums(sums);
  loads_stay();
  lanes_sums<lanes_per_row>(sums);
  affine.wait();

  rows.keep<floats_fit>();
  const FirstOfRows<rows_per_group> first = rows.first_moments(sums);
  if (!warp_any<lanes_per_row>(!rows.plain(first))) {
    rows.store(first, affine);
    return;
  }
  // The rare way, by all lanes of a warp of which some row is not plain.
  rows.keep<false>();
  rows.deviations(first, sums);
  lanes_sums<lanes_per_row>(sums);
  const unsigned rescue = rows.store_again(first, sums, affine);
  if (warp_any<lanes_per_row>(rescue != 0)) rescue_rows(arguments, row, rows.slice.member, rescue);
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {
  if constexpr (affine_shared != 0) {
    BlockAffine affine(arguments);
    work_on_rows(arguments, affine);
  } else {
    constexpr int x_registers = rows_per_group * RowSlice::packs * pack_registers<x_type>;
    Affine<RowSlice, x_registers, registers_there> affine(arguments);
    work_on_rows(arguments, affine);
  }
}

}  // namespace normd
