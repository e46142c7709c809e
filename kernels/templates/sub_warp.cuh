// sub_warp: a group of `lanes_per_row` neighbouring lanes owns a row and keeps it in registers,
// packed; groups of a warp own neighbouring rows, so that a warp's access is one stretch of memory.
// Each group has `rows_per_group` rows, in flight together. x is read once and y written once;
// gamma and beta are read once per thread, or once per block into shared memory. All exchange
// between lanes is by shuffles. For narrow rows, from one element to a few thousand.
#include "row_slice.cuh"
#include "shared_affine.cuh"

namespace normd {

constexpr int groups_per_block = block_threads / lanes_per_row;
using RowSlice = Slice<lanes_per_row>;
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

// The rows of a group lie at fixed distances where rows are contiguous.
NORMD_DEVICE const x_type* x_of(const NormArguments& arguments, long long row, int r) {
  constexpr long long distance = groups_per_block;
  if constexpr (rows_contiguous) return x_row(arguments, row) + r * distance * row_columns;
  return x_row(arguments, row + r * distance);
}
NORMD_DEVICE y_type* y_of(const NormArguments& arguments, long long row, int r) {
  constexpr long long distance = groups_per_block;
  if constexpr (rows_contiguous) return y_row(arguments, row) + r * distance * row_columns;
  return y_row(arguments, row + r * distance);
}

// The rare way, by all lanes of a warp of which some row is not plain. A row is as it would be
// beside any other. `row` is the group's first.
template <typename RowAffine>
NORMD_DEVICE void work_again(const NormArguments& arguments, long long row, const RowSlice& slice,
                             RowSlice::Packs (&x)[rows_per_group],
                             const FirstMoments (&first)[rows_per_group], const RowAffine& affine) {
  float sums[2 * rows_per_group];
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    slice.template keep<false>(x[r]);
    slice.deviations(x[r], first[r].found.correction, sums[2 * r], sums[2 * r + 1]);
  }
  lanes_sums<lanes_per_row>(sums);
  unsigned rescue = 0;
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    const Moments found = first[r].near ? first[r].found
                                        : second_moments(first[r].found.correction, sums[2 * r],
                                                         sums[2 * r + 1], divisor_of(row_columns));
    const RowMoments moments =
        first[r].plain ? first[r].row : row_moments(found, arguments.epsilon);
    if (moments.rescue) {
      rescue |= 1u << r;
    } else if (row + r * groups_per_block < arguments.rows) {
      slice.template store_about<true>(x[r], moments, affine, y_of(arguments, row, r));
      if (slice.member == 0) store_statistics(arguments, row + r * groups_per_block, moments);
    }
  }
  if (warp_any<lanes_per_row>(rescue != 0)) rescue_rows(arguments, row, slice.member, rescue);
}

template <typename RowAffine>
NORMD_DEVICE void work_on_rows(const NormArguments& arguments, RowAffine& affine) {
  constexpr bool floats_fit = fits_as_floats(rows_per_group * RowSlice::packs, 0, registers_there);
  const RowSlice slice{thread_index() % lanes_per_row};
  const int group = thread_index() / lanes_per_row;
  const long long rows = arguments.rows;
  const long long row = block_index() * rows_per_block + group;
  // A row past the last one is zeros, and is not stored: every lane of a warp takes part in every
  // shuffle.
  const auto exists = [&](int r) { return row + r * groups_per_block < rows; };
  RowSlice::Packs x[rows_per_group];
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    if (exists(r)) {
      slice.load(x_of(arguments, row, r), x[r]);
    } else {
#pragma unroll
      for (int i = 0; i < RowSlice::packs; ++i) x[r][i] = Pack<x_type, pack>{};
    }
  }
  affine.ask(slice);

  float sums[2 * rows_per_group];
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    slice.sums(x[r], sums[2 * r], sums[2 * r + 1]);
  }
  loads_stay();
  lanes_sums<lanes_per_row>(sums);
  affine.wait();

  FirstMoments first[rows_per_group];
  bool plain = true;
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    slice.template keep<floats_fit>(x[r]);
    first[r] = first_moments(sums[2 * r], sums[2 * r + 1], arguments.epsilon);
    plain = plain && (first[r].plain || !exists(r));
  }
  if (warp_any<lanes_per_row>(!plain)) {
    work_again(arguments, row, slice, x, first, affine);
    return;
  }
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    if (!exists(r)) continue;
    slice.template store_about<false>(x[r], first[r].row, affine, y_of(arguments, row, r));
    if (slice.member == 0) store_statistics(arguments, row + r * groups_per_block, first[r].row);
  }
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
