// RowGroup: the rows that the same threads have in flight together, `distance` rows apart, each in
// registers as a Slice. What they wait for they wait for once, and gamma and beta are read and
// converted once for all of them. One or two rows, named one by one where a branch is decided: of a
// loop over them, and of structures that are moved, the compilers make several branches, and put
// the rare way first.
#pragma once

#include "row_slice.cuh"

namespace normd {

template <int rows>
struct FirstOfRows {
  FirstMoments row[rows];
};

// `covered`: no group is without a first row.
template <typename RowSlice, int rows, int distance, bool covered>
struct RowGroup {
  static_assert(rows == 1 || rows == 2, "each has its place below");
  using Packs = typename RowSlice::Packs;
  using Sums = float[2 * rows];  // of each row a pair

  static constexpr long long columns_between = static_cast<long long>(distance) * row_columns;

  // Of memory, 32 bytes, which an access of the row's threads fills; the parts of one that two
  // accesses share are put together only where these follow each other.
  static constexpr bool whole_sectors =
      row_align_bytes >= 16 && row_columns * static_cast<int>(sizeof(y_type)) % 32 == 0 &&
      RowSlice::threads * pack * static_cast<int>(sizeof(y_type)) % 32 == 0;

  const NormArguments& arguments;
  const RowSlice slice;
  const long long first_row;
  Packs x[rows];

  NORMD_DEVICE long long row(int r) const { return first_row + r * distance; }
  NORMD_DEVICE bool exists(int r) const { return (covered && r == 0) || row(r) < arguments.rows; }

  // work(r) for each row that exists.
  template <typename Work>
  NORMD_DEVICE void each(const Work& work) const {
    if (exists(0)) work(0);
    if constexpr (rows == 2) {
      if (exists(1)) work(1);
    }
  }

  // Where rows are contiguous, at a fixed distance from the first. Past the last row, one that is
  // there: what comes of it is not stored, and asking costs less than doing without.
  NORMD_DEVICE const x_type* x_of(int r) const {
    const long long last = arguments.rows - 1;
    const long long first = covered || first_row < last ? first_row : last;
    if constexpr (rows_contiguous) {
      return x_row(arguments, first) + (r > 0 && exists(r) ? columns_between : 0);
    } else {
      return x_row(arguments, r > 0 && exists(r) ? row(r) : first);
    }
  }
  NORMD_DEVICE y_type* y_of(int r) const {
    if constexpr (rows_contiguous) return y_row(arguments, first_row) + r * columns_between;
    return y_row(arguments, row(r));
  }

  template <Hint hint = Hint::normal>
  NORMD_DEVICE void load() {
#pragma unroll
    for (int r = 0; r < rows; ++r) slice.template load<hint>(x_of(r), x[r]);
  }

  NORMD_DEVICE void sums(Sums& sums) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) slice.sums(x[r], sums[2 * r], sums[2 * r + 1]);
  }

  template <bool floats_fit>
  NORMD_DEVICE void keep() {
#pragma unroll
    for (int r = 0; r < rows; ++r) slice.template keep<floats_fit>(x[r]);
  }

  // Out of the sums over whole rows.
  NORMD_DEVICE FirstOfRows<rows> first_moments(const Sums& sums) const {
    const float epsilon = arguments.epsilon;
    if constexpr (rows == 1) {
      return {{normd::first_moments(sums[0], sums[1], epsilon)}};
    } else {
      return {{normd::first_moments(sums[0], sums[1], epsilon),
               normd::first_moments(sums[2], sums[3], epsilon)}};
    }
  }

  NORMD_DEVICE bool plain(const FirstOfRows<rows>& first) const {
    if constexpr (rows == 1) {
      return first.row[0].plain;
    } else {
      return first.row[0].plain & first.row[1].plain;
    }
  }

  // Plain rows.
  template <typename Affine>
  NORMD_DEVICE void store(const FirstOfRows<rows>& first, const Affine& affine) const {
    if constexpr (rows == 1 || !whole_sectors) {
      each([&](int r) {
        slice.template store_about<false>(x[r], first.row[r].row, affine, y_of(r));
      });
    } else {
      store_by_packs(first, affine);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (exists(r) && slice.member == 0) store_statistics(arguments, row(r), first.row[r].row);
    }
  }

  // The rare way: the sums about the means just found.
  NORMD_DEVICE void deviations(const FirstOfRows<rows>& first, Sums& sums) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      slice.deviations(x[r], first.row[r].found.correction, sums[2 * r], sums[2 * r + 1]);
    }
  }

  // Any rows, with what deviations() came to over whole rows. A row is as it would be beside any
  // other. A bit for each row that is to be rescued.
  template <typename Affine>
  NORMD_DEVICE unsigned store_again(const FirstOfRows<rows>& first, const Sums& sums,
                                    const Affine& affine) const {
    unsigned rescue = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const RowMoments moments =
          moments_again(first.row[r], sums[2 * r], sums[2 * r + 1], arguments.epsilon);
      if (!exists(r)) continue;
      if (moments.rescue) {
        rescue |= 1u << r;
      } else {
        slice.template store_about<true>(x[r], moments, affine, y_of(r));
        if (slice.member == 0) store_statistics(arguments, row(r), moments);
      }
    }
    return rescue;
  }

 private:
  template <typename Affine>
  NORMD_DEVICE void store_by_packs(const FirstOfRows<rows>& first, const Affine& affine) const {
#pragma unroll
    for (int i = 0; i < RowSlice::packs; ++i) {
      if (!Affine::anywhere && !slice.owns(i)) continue;
      const AffinePacks of_columns = affine.of(slice, i);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        float values[pack];
        normalise<false>(x[r][i], first.row[r].row, values);
        of_columns.apply(values);
        const Pack<y_type, pack> y = from_floats<y_type>(values);
        if (exists(r) && slice.owns(i)) store_at(y_of(r) + slice.column(i), slice.column(i), y);
      }
    }
  }
};

}  // namespace normd
