// Moments: the mean of a row, or of a part of one, and the squares about it, from the sums of the
// elements and of their squares: one pass and one reduction, where a mean first and then deviations
// from it take two, one after the other. Subtracting the mean's share from the squares costs digits
// where the mean is large beside the spread; whoever finds that takes a second pass, over
// deviations from the mean just found (the shifted data algorithm of Chan, Golub and LeVeque,
// 1983). The mean is kept as the value that deviations were taken from, zero in a first pass, and
// the distance from it, so it is as good as the deviations are, whatever its size.
#pragma once

#include "rescue.cuh"

namespace normd {

// A number of columns to divide by.
struct Divisor {
  float count;
  float reciprocal;
  bool exact;  // a power of two

  // fl(value / count), but for the last bit in rare cases: one step on from the product with the
  // rounded reciprocal, without the slow path that a division carries.
  NORMD_DEVICE float divide(float value) const {
    const float quotient = value * reciprocal;
    if (exact) return quotient;  // rounded once
    const float remainder = fused_multiply_add(-quotient, count, value);
    return fused_multiply_add(remainder, reciprocal, quotient);
  }
};

NORMD_DEVICE constexpr Divisor divisor_of(int count) {
  return {static_cast<float>(count), 1.0f / static_cast<float>(count), (count & (count - 1)) == 0};
}

// Of the squares about some value a share is taken away, that of the mean's distance from it. What
// the sums were rounded by stays, and weighs 1 + share / rest times as much in the rest. Up to this
// share / rest a first pass will do: where y keeps all bits of a float (`fine`), up to a mean of
// one standard deviation, and of two where its own rounding hides far more.
NORMD_DEVICE constexpr float share_max(bool fine) {
  return fine ? 1.0f : 4.0f;
}

struct Moments {
  float mean;        // what deviations were taken from
  float correction;  // what the true mean is above that
  float squares;     // about the true mean; NaN where rounding has drowned them
};

// False for NaN. True where squares and share vanish alike, as of values below 1e-23: beside any
// epsilon they are nothing.
NORMD_DEVICE bool near_enough(const Moments& found, float deviation_sum, bool fine) {
  return found.correction * deviation_sum <= share_max(fine) * found.squares;
}

NORMD_DEVICE Moments moments_from(float value, float deviation_sum, float square_sum,
                                  const Divisor& count) {
  const float correction = count.divide(deviation_sum);
  return {value, correction, fused_multiply_add(-deviation_sum, correction, square_sum)};
}

// Of a second pass, which has nowhere nearer to go.
NORMD_DEVICE Moments unless_drowned(const Moments& found, float deviation_sum) {
  const bool drowned = !near_enough(found, deviation_sum, false);
  return {found.mean, found.correction, drowned ? bits_to_float(0x7fc00000u) : found.squares};
}

NORMD_DEVICE Moments second_moments(float value, float deviation_sum, float square_sum,
                                    const Divisor& count) {
  return unless_drowned(moments_from(value, deviation_sum, square_sum, count), deviation_sum);
}

// sums_about(value, deviation_sum, square_sum) gives the sums over the whole row of x - value and
// of its square, to all threads of the row alike.
template <bool fine, typename SumsAbout>
NORMD_DEVICE Moments moments_of(const Divisor& count, SumsAbout sums_about) {
  float deviation_sum;
  float square_sum;
  sums_about(0.0f, deviation_sum, square_sum);
  const Moments found = moments_from(0.0f, deviation_sum, square_sum, count);
  if (near_enough(found, deviation_sum, fine)) return found;
  const float mean = found.correction;
  sums_about(mean, deviation_sum, square_sum);
  return second_moments(mean, deviation_sum, square_sum, count);
}

// What normalising a row needs of its moments: y = ((x - base) * rstd + shift) * gamma + beta.
struct RowMoments {
  float base;  // zero in most rows: one subtraction less for each element
  float shift;
  float mean;  // rounded once
  float rstd;
  bool rescue;

  // y is x * rstd + shift, in float.
  NORMD_DEVICE bool about_zero() const { return base == 0.0f && !rescue; }
};

// `fine`: for a y that keeps all bits of a float, so that each rounding on the way to it shows.
template <bool fine>
NORMD_DEVICE float rstd_of(float v) {
  return fine ? reciprocal_sqrt_nearest(v) : reciprocal_sqrt(v);
}

// An element may well be such a number.
NORMD_DEVICE bool has_few_bits(float value) {
  return (float_to_bits(value) & 0xffffu) == 0;
}

template <bool fine>
NORMD_DEVICE RowMoments row_moments(const Moments& row, const Divisor& count, float epsilon) {
  const float v = count.divide(row.squares) + epsilon;
  const float rstd = rstd_of<fine>(v);
  const float mean = row.mean + row.correction;
  // x - 0 is not rounded at all, and up to a mean of four deviations the shift is rounded by less
  // than the largest x - mean would be. Never in a row of equal values, and not about a mean of few
  // bits, which may well be an element: the y of both is exactly beta.
  const bool near_zero = mean * mean * count.count < 16.0f * row.squares;
  const float base = near_zero && !(fine && has_few_bits(mean)) ? 0.0f : mean;
  const float mean_low = (row.mean - mean) + row.correction;  // that rounding took from the mean
  const float shift = fused_multiply_add(base - mean, rstd, -mean_low * rstd);
  return {base, shift, mean, rstd, needs_rescue(v)};
}

// What a first pass about zero has found, from the row's sums.
struct FirstMoments {
  Moments found;
  RowMoments row;  // as row_moments() would have it, if plain
  bool near;       // no second pass
  bool plain;      // nor a base but zero, nor double: the way of most rows, which asks only this
};

template <bool fine>
NORMD_DEVICE FirstMoments first_moments(float sum, float square_sum, const Divisor& count,
                                        float epsilon) {
  const Moments found = moments_from(0.0f, sum, square_sum, count);
  const float v = count.divide(found.squares) + epsilon;
  const float rstd = rstd_of<fine>(v);
  const float mean = found.correction;
  const bool near = near_enough(found, sum, fine);
  // Near enough is near zero, too, but for squares that vanish: small values, all equal.
  const bool about_mean =
      mean != 0.0f && (!(found.squares > 0.0f) || (fine && has_few_bits(mean)));
  const bool plain = near && !about_mean && !needs_rescue(v);
  return {found, {0.0f, -mean * rstd, mean, rstd, false}, near, plain};
}

}  // namespace normd
