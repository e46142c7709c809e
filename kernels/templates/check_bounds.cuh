// The bounds of kernels/tolerance.h in device code, number by number, and what one comparison is
// worth against them. A test holds the two sides together.
#pragma once

#include "any_element.cuh"

namespace normd {

constexpr double widening_max = 0.1;  // above, a row does not gate a teaching template

NORMD_DEVICE double no_limit() {
  return bits_to_float(0x7f800000u);
}
NORMD_DEVICE double magnitude(double value) {
  return value < 0 ? -value : value;
}
NORMD_DEVICE bool is_nan(double value) {
  return value != value;
}

// One unit in the last place of the binade of `value`, in a format with `mantissa` stored bits.
NORMD_DEVICE double unit_in_last_place(unsigned kind, double value) {
  const int mantissa = kind == 1u ? 23 : kind == 2u ? 10 : 7;
  const int exponent_min = kind == 2u ? -14 : -126;
  const int exponent_max = kind == 2u ? 15 : 127;
  unsigned long long bits;
  copy_bytes<8>(&bits, &value);
  int exponent = static_cast<int>(bits >> 52 & 0x7ffu) - 1023;
  exponent = exponent < exponent_min ? exponent_min : exponent;
  exponent = exponent > exponent_max ? exponent_max : exponent;
  bits = static_cast<unsigned long long>(1023 + exponent - mantissa) << 52;
  double unit;
  copy_bytes<8>(&unit, &bits);
  return unit;
}

// What storing y costs at best; for fp32 it is far below the arithmetic's own allowance.
NORMD_DEVICE double rounding_allowance(unsigned kind, double expected) {
  return kind == 1u ? 0.0 : 0.5 * unit_in_last_place(kind, expected);
}

NORMD_DEVICE double rounded_to(unsigned kind, double value) {
  if (kind == 1u) return to_float(from_double<fp32>(value));
  if (kind == 2u) return to_float(from_double<fp16>(value));
  return to_float(from_double<bf16>(value));
}

NORMD_DEVICE double taught_widening(double sequential_adds, double mean, double rstd) {
  const double spreads = magnitude(mean) * rstd;
  return 2.0 / 16777216.0 * (spreads > 1 ? spreads : 1.0) * sequential_adds;
}

NORMD_DEVICE double y_bound(unsigned kind, double expected, double normalised, double gamma,
                            double beta, double widening) {
  return (2e-6 + widening) * magnitude(gamma) * (1 + magnitude(normalised)) +
         2e-6 * magnitude(beta) + rounding_allowance(kind, expected);
}

NORMD_DEVICE double mean_bound(double row_max_abs, double widening, double rstd) {
  const double widened = widening > 0 ? widening / rstd : 0.0;
  return 1e-6 * row_max_abs + widened + unit_in_last_place(1u, 0.0);
}

NORMD_DEVICE double rstd_bound(double expected, double widening) {
  return (1e-6 + widening) * expected;
}

// A taught template may give NaN where the mean is infinite.
NORMD_DEVICE bool mean_counts(double sequential_adds, double got, double expected) {
  return !(sequential_adds > 0 && magnitude(expected) == no_limit() && is_nan(got));
}

// 0 to 1 is within the bound. NaN matches only NaN, and infinity only the same infinity; but a
// value that rounds to infinity within its bound may be infinite.
NORMD_DEVICE double error_over_bound(unsigned kind, double got, double expected, double bound) {
  if (is_nan(expected)) return is_nan(got) ? 0.0 : no_limit();
  if (is_nan(got)) return no_limit();
  if (got == expected) return 0.0;
  if (magnitude(expected) == no_limit()) return no_limit();
  if (magnitude(got) == no_limit()) {
    const double before_rounding = bound - rounding_allowance(kind, expected);
    const double farthest = expected + (got > 0 ? before_rounding : -before_rounding);
    return rounded_to(kind, farthest) == got ? 1.0 : no_limit();
  }
  return bound > 0 ? magnitude(got - expected) / bound : no_limit();
}

}  // namespace normd
