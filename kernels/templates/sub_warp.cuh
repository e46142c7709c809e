// sub_warp: a group of `lanes_per_row` neighbouring lanes owns a row and keeps it in registers,
// packed; groups of a warp own neighbouring rows, so that a warp's access is one stretch of memory.
// Each group has `rows_per_group` rows in flight. x is read once and y written once; gamma and beta
// are read once per thread. All exchange is by shuffles: no barrier, no shared memory.
// For narrow rows, from one element to a few thousand.
#include "row_slice.cuh"

namespace normd {

constexpr int groups_per_block = block_threads / lanes_per_row;
using RowSlice = Slice<lanes_per_row>;
constexpr int blocks_wanted = larger_of(1, threads_per_sm / block_threads);
constexpr int registers_there = registers_for(blocks_wanted);
constexpr Hint row_hint = streaming != 0 ? Hint::stream : Hint::normal;

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

// As moments_near() has it, for all rows of the warp together: a row that has what it needs keeps
// it while another goes on, and is as it would be beside any other.
template <int as_floats>
NORMD_DEVICE void moments_of_rows(const RowSlice& slice,
                                  typename RowSlice::Packs (&x)[rows_per_group],
                                  Moments (&found)[rows_per_group]) {
  float origin[rows_per_group];
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    origin[r] = median_of_first(x[r][0]);
    if constexpr (lanes_per_row > 1) {
      origin[r] = shuffle_from(origin[r], thread_index() % warp_lanes / lanes_per_row * lanes_per_row);
    }
  }
  bool known[rows_per_group] = {};
#pragma unroll 1
  for (int passes_left = 2; passes_left > 0; --passes_left) {
    float sums[2 * rows_per_group];
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r) {
      slice.deviations(x[r], origin[r], sums[2 * r], sums[2 * r + 1]);
    }
    lanes_sums<lanes_per_row>(sums);
    bool again = false;
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r) {
      if (known[r]) continue;
      found[r] = moments_from(origin[r], sums[2 * r], sums[2 * r + 1], divisor_of(row_columns));
      known[r] = near_enough(found[r], sums[2 * r]);
      origin[r] = found[r].mean + found[r].correction;
      again |= !known[r];
    }
    if (!warp_any<lanes_per_row>(again)) return;
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r) slice.template keep<as_floats, registers_there>(x[r]);
  }
#pragma unroll
  for (int r = 0; r < rows_per_group; ++r) {
    if (!known[r]) found[r] = without_squares(found[r]);
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {
  constexpr int x_registers = rows_per_group * RowSlice::packs * pack_registers<x_type>;
  using RowAffine = Affine<lanes_per_row, x_registers, registers_there>;
  // As floats x is one register per element.
  constexpr int as_floats =
      rows_per_group * RowSlice::packs * pack + RowAffine::held_registers + other_registers;
  const RowSlice slice{thread_index() % lanes_per_row};
  const int group = thread_index() / lanes_per_row;
  const long long rows = arguments.rows;
  const float epsilon = arguments.epsilon;

  for (long long first = block_index() * rows_per_block; first < rows;
       first += grid_blocks() * rows_per_block) {
    // A group past the last row works on the last one and stores nothing: every lane of a warp
    // takes part in every shuffle.
    const auto row_of = [&](int r) { return first + r * groups_per_block + group; };
    const auto clamped = [&](int r) { return row_of(r) < rows ? row_of(r) : rows - 1; };

    typename RowSlice::Packs x[rows_per_group];
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r) {
      slice.template load<row_hint>(x_row(arguments, clamped(r)), x[r]);
    }
    const RowAffine affine(arguments, slice);

    Moments found[rows_per_group];
    moments_of_rows<as_floats>(slice, x, found);

    unsigned rescue = 0;
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r) {
      slice.template keep<as_floats, registers_there>(x[r]);
      const RowMoments moments = row_moments(found[r], epsilon);
      if (moments.rescue) {
        rescue |= 1u << r;
      } else if (row_of(r) < rows) {
        slice.template store<row_hint>(x[r], moments, affine, y_row(arguments, row_of(r)));
        if (slice.member == 0) store_statistics(arguments, row_of(r), moments);
      }
    }
    if (warp_any<lanes_per_row>(rescue != 0)) {
      rescue_rows(arguments, first + group, slice.member, rescue);
    }
  }
}

}  // namespace normd
