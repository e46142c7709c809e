// RowPart: which columns of a row belong to one of the `count` blocks that share it, and the
// moments of such a part. Parts are whole multiples of `unit` columns; where they cannot all be
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
  NORMD_DEVICE float inverse_columns() const {
    return wider == 0 || rank < wider ? 1.0f / columns_max : 1.0f / columns_min;
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

// A part's own moments: its mean as a float and what that is off by, and the squares about it.
struct PartMoments {
  float mean;
  float correction;
  float squares;
};

// `part` of the whole row; `noise`: what the float means that it was found with were off by.
NORMD_DEVICE RowMoments row_of(const PartMoments& part, float noise, float epsilon) {
  const float raw = divide_by_columns(part.squares);
  const float variance = raw < 0.0f ? 0.0f : raw;  // NaN stays
  const float v = variance + epsilon;
  return {part.mean, part.correction, reciprocal_sqrt(v), needs_rescue(variance, noise, v)};
}

// `base` and the distance from it: the mean as a float and what that float is off by, whichever of
// the two is larger.
NORMD_DEVICE PartMoments about(float base, float distance, float squares) {
  const float mean = base + distance;
  const float of_distance = mean - base;
  return {mean, (base - (mean - of_distance)) + (distance - of_distance), squares};
}

}  // namespace normd
