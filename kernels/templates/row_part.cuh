// RowPart: which columns of a row belong to one of the `count` blocks or warps that share it, and
// the moments of such a part. Parts are whole multiples of `unit` columns; where they cannot all be
// alike, the first ones are a unit wider.
#pragma once

#include "row_slice.cuh"

namespace normd {

template <int count, int unit>
struct RowPart {
  static constexpr int units = row_columns / unit;
  static constexpr int wider = units % count;  // parts
  static constexpr int columns_min = units / count * unit;
  static constexpr int columns_max = columns_min + (wider > 0 ? unit : 0);
  static_assert(units * unit == row_columns && columns_min > 0, "every block has whole units");
  static_assert(unit % pack == 0, "whole packs");

  template <typename T>
  static constexpr int bytes_max = columns_max* static_cast<int>(sizeof(T));
  template <int width>
  using SliceOf = Slice<width, columns_max, (columns_max - columns_min) / pack>;

  int rank;

  static NORMD_DEVICE int columns_of(int rank) {
    return wider == 0 || rank < wider ? columns_max : columns_min;
  }
  NORMD_DEVICE int columns() const { return columns_of(rank); }
  NORMD_DEVICE int begin() const {
    return rank * columns_min + (wider > 0 ? smaller_of(rank, wider) * unit : 0);
  }
  NORMD_DEVICE Divisor divisor() const {
    return wider == 0 || rank < wider ? divisor_of(columns_max) : divisor_of(columns_min);
  }
  template <typename T>
  NORMD_DEVICE T* of(T* row) const {
    return row + begin();
  }
  template <typename T>
  NORMD_DEVICE int bytes() const {
    return columns() * static_cast<int>(sizeof(T));
  }
  template <int width>
  NORMD_DEVICE SliceOf<width> slice() const {
    return {thread_index() % width, (columns_max - columns()) / pack};
  }
};

// Whose gamma and beta begin with the part's first column; the rest is as it was.
template <typename Part>
NORMD_DEVICE NormArguments with_affine_of(const NormArguments& arguments, const Part& part) {
  NormArguments of_part = arguments;
  if constexpr (has_gamma) of_part.gamma = part.of(static_cast<const gamma_type*>(arguments.gamma));
  if constexpr (has_beta) of_part.beta = part.of(static_cast<const beta_type*>(arguments.beta));
  return of_part;
}

// `base` and the distance from it: the mean as a float and what that float is off by, whichever of
// the two is larger.
NORMD_DEVICE Moments about(float base, float distance, float squares) {
  const float mean = base + distance;
  const float of_distance = mean - base;
  return {mean, (base - (mean - of_distance)) + (distance - of_distance), squares};
}

}  // namespace normd
