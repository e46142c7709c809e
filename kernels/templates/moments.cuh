// Moments: the mean of a row, or of a part of one, and the squares about it, found in one pass over
// the deviations from a value near the middle (the shifted data algorithm of Chan, Golub and
// LeVeque, 1983): one reduction, where a mean first and then deviations from it take two, one after
// the other. The mean is kept as that value and the distance from it, so it is as good as the
// deviations are, whatever its size. A value that turns out to be too far from the mean costs a
// second pass, from the mean itself.
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

struct Moments {
  float mean;        // what deviations were taken from
  float correction;  // what the true mean is above that
  float squares;     // about the true mean; NaN where rounding has drowned them
};

// Whether a mean that far off leaves the squares good to a few units in the last place: subtracting
// its share takes away at most four fifths of them. False for NaN.
NORMD_DEVICE bool near_enough(const Moments& found, float deviation_sum) {
  return found.correction * deviation_sum <= 4.0f * found.squares;
}

NORMD_DEVICE Moments moments_from(float origin, float deviation_sum, float square_sum,
                                  const Divisor& count) {
  const float correction = count.divide(deviation_sum);
  return {origin, correction, fused_multiply_add(-deviation_sum, correction, square_sum)};
}

// Of a second pass, which has nowhere nearer to go.
NORMD_DEVICE Moments unless_drowned(const Moments& found, float deviation_sum) {
  const bool drowned = !near_enough(found, deviation_sum);
  return {found.mean, found.correction, drowned ? bits_to_float(0x7fc00000u) : found.squares};
}

// sums_about(origin, deviation_sum, square_sum) gives the sums over the whole row of x - origin and
// of its square, to all of the row's threads alike; sums_again() is the same for the second pass.
template <typename SumsAbout, typename SumsAgain>
NORMD_DEVICE Moments moments_near(float origin, const Divisor& count, SumsAbout sums_about,
                                  SumsAgain sums_again) {
  float deviation_sum;
  float square_sum;
  sums_about(origin, deviation_sum, square_sum);
  const Moments found = moments_from(origin, deviation_sum, square_sum, count);
  if (near_enough(found, deviation_sum)) return found;
  const float mean = found.mean + found.correction;
  sums_again(mean, deviation_sum, square_sum);
  return unless_drowned(moments_from(mean, deviation_sum, square_sum, count), deviation_sum);
}

// What normalising a row needs of its moments: y = ((x - mean) * rstd - correction * rstd) * gamma
// + beta.
struct RowMoments {
  float mean;        // what deviations are taken from
  float correction;  // what that mean is off by
  float rstd;
  bool rescue;
};

NORMD_DEVICE RowMoments row_moments(const Moments& row, const Divisor& count, float epsilon) {
  const float v = count.divide(row.squares) + epsilon;
  return {row.mean, row.correction, reciprocal_sqrt(v), needs_rescue(v)};
}

NORMD_DEVICE float median(float a, float b, float c) {
  return larger_of(smaller_of(a, b), smaller_of(larger_of(a, b), c));
}

}  // namespace normd
