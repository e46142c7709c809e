#include "kernels/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernels/check.h"

namespace normd {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Half a unit in the last place is what storing y costs at best. fp32 needs no such term: its half
// unit is far below the arithmetic's own allowance.
double rounding_allowance(DType y, double expected) {
  return y == DType::fp32 ? 0.0 : 0.5 * unit_in_last_place(y, expected);
}

// One value of an answer and what it should have been.
struct Value {
  const char* output = "";
  std::int64_t row = 0;
  std::int64_t column = -1;  // -1 for mean and rstd
  double got = 0;
  double expected = 0;
  double bound = 0;
};

std::string describe(const Value& value) {
  char place[64];
  if (value.column >= 0) {
    std::snprintf(place, sizeof place, "row %lld column %lld", static_cast<long long>(value.row),
                  static_cast<long long>(value.column));
  } else {
    std::snprintf(place, sizeof place, "row %lld", static_cast<long long>(value.row));
  }
  char text[256];
  std::snprintf(text, sizeof text, "%s %s: got %.9g, expected %.9g, bound %.3g", value.output,
                place, value.got, value.expected, value.bound);
  return text;
}

// Takes one value after the other and keeps what a Comparison tells.
class Tally {
 public:
  explicit Tally(const Problem& problem) : problem_(problem) {}

  void add_y(const Value& value) {
    add(problem_.y, value);
    ++elements_;
    const double error = std::fabs(value.got - value.expected);
    if (!std::isfinite(error)) return;
    error_max_ = std::max(error_max_, error);
    error_square_sum_ += error * error;
    square_sum_ += value.expected * value.expected;
    const double rounding = rounded_to(problem_.y, value.expected) - value.expected;
    if (std::isfinite(rounding)) rounding_square_sum_ += rounding * rounding;
  }

  void add(DType dtype, const Value& value) {
    const double ratio = error_over_bound(dtype, value.got, value.expected, value.bound);
    if (ratio <= worst_ratio_) return;
    worst_ratio_ = ratio;
    worst_ = value;
  }

  Comparison result(Grade grade) const {
    Comparison result{.elements = elements_,
                      .error_max = error_max_,
                      .error_over_bound = worst_ratio_,
                      .relative_l2 = 0,
                      .failure = {}};
    if (square_sum_ > 0) result.relative_l2 = std::sqrt(error_square_sum_ / square_sum_);
    if (worst_ratio_ > 1) {
      result.failure = describe(worst_);
    } else if (grade == Grade::exact && error_square_sum_ > square_sum_allowed()) {
      char text[128];
      std::snprintf(text, sizeof text, "y as a whole: relative L2 error %.3g, bound %.3g",
                    result.relative_l2, relative_l2_bound(problem_.y));
      result.failure = text;
    }
    return result;
  }

 private:
  double square_sum_allowed() const {
    const double bound = relative_l2_bound(problem_.y);
    // An fp32 computation may meet subnormal numbers on the way to answers below 1e-30.
    const double least = 1e-60 * static_cast<double>(elements_);
    // A twentieth more than correct rounding, for values so near the middle between two neighbours
    // that the arithmetic's own error decides which of the two it is.
    return std::max(bound * bound * std::max(square_sum_, least), 1.05 * rounding_square_sum_);
  }

  const Problem& problem_;
  std::int64_t elements_ = 0;
  double error_max_ = 0;
  double error_square_sum_ = 0;
  double square_sum_ = 0;  // of the expected y
  double rounding_square_sum_ = 0;
  double worst_ratio_ = 0;
  Value worst_;
};

}  // namespace

double y_bound(const Problem& problem, double expected, double normalised, double gamma,
               double beta, double widening) {
  return (2e-6 + widening) * std::fabs(gamma) * (1 + std::fabs(normalised)) +
         2e-6 * std::fabs(beta) + rounding_allowance(problem.y, expected);
}

double mean_bound(double row_max_abs, double widening, double rstd) {
  // The widening is in units of the row's spread, which 1 / rstd turns into units of x.
  const double widened = widening > 0 ? widening / rstd : 0.0;
  return 1e-6 * row_max_abs + widened + unit_in_last_place(DType::fp32, 0.0);
}

double rstd_bound(double expected, double widening) {
  return (1e-6 + widening) * expected;
}

double taught_widening(const Tolerance& tolerance, double mean, double rstd) {
  if (tolerance.grade == Grade::exact) return 0.0;
  const double spreads = std::fabs(mean) * rstd;
  const double factor = spreads > 1 ? spreads : 1.0;  // 1 for NaN, too
  return 2 * 0x1p-24 * factor * static_cast<double>(tolerance.sequential_adds);
}

double error_over_bound(DType dtype, double got, double expected, double bound) {
  if (std::isnan(expected)) return std::isnan(got) ? 0.0 : infinity;
  if (std::isnan(got)) return infinity;
  if (got == expected) return 0.0;
  if (std::isinf(expected)) return infinity;
  if (std::isinf(got)) {
    // The bound holds the rounding of the result; infinity is one rounding of a value without it.
    const double before_rounding = bound - rounding_allowance(dtype, expected);
    const double farthest = expected + std::copysign(before_rounding, got);
    return rounded_to(dtype, farthest) == got ? 1.0 : infinity;
  }
  const double error = std::fabs(got - expected);
  return bound > 0 ? error / bound : infinity;
}

bool mean_counts(Grade grade, double got, double expected) {
  return grade == Grade::exact || !std::isinf(expected) || !std::isnan(got);
}

double relative_l2_bound(DType y) {
  switch (y) {
    case DType::fp32:
      return 3e-7;
    case DType::fp16:
      return 2.2e-4;
    case DType::bf16:
      return 1.8e-3;
  }
  NORMD_CHECK(false);
}

Comparison compare(const Problem& problem, const HostTensors& tensors, const HostOutputs& outputs,
                   const Tolerance& tolerance, std::int64_t rows_begin, std::int64_t rows_end) {
  NORMD_CHECK(outputs.y_row_stride >= problem.columns);
  Tally tally(problem);
  ReferenceRow expected;
  for (std::int64_t row = rows_begin; row < rows_end; ++row) {
    reference_row(problem, tensors, row, expected);
    const double widening = taught_widening(tolerance, expected.mean, expected.rstd);
    if (widening > widening_max) continue;
    if (outputs.mean != nullptr &&
        mean_counts(tolerance.grade, static_cast<double>(outputs.mean[row]), expected.mean)) {
      tally.add(DType::fp32, {.output = "mean",
                              .row = row,
                              .got = outputs.mean[row],
                              .expected = expected.mean,
                              .bound = mean_bound(expected.x_max_abs, widening, expected.rstd)});
    }
    if (outputs.rstd != nullptr) {
      tally.add(DType::fp32, {.output = "rstd",
                              .row = row,
                              .got = outputs.rstd[row],
                              .expected = expected.rstd,
                              .bound = rstd_bound(expected.rstd, widening)});
    }
    for (std::int64_t column = 0; column < problem.columns; ++column) {
      const auto i = static_cast<std::size_t>(column);
      const double gamma = problem.gamma ? load_element(*problem.gamma, tensors.gamma, i) : 1.0;
      const double beta = problem.beta ? load_element(*problem.beta, tensors.beta, i) : 0.0;
      const auto at = static_cast<std::size_t>(row * outputs.y_row_stride + column);
      tally.add_y({.output = "y",
                   .row = row,
                   .column = column,
                   .got = load_element(problem.y, outputs.y, at),
                   .expected = expected.y[i],
                   .bound = y_bound(problem, expected.y[i], expected.normalised[i], gamma, beta,
                                    widening)});
    }
  }
  return tally.result(tolerance.grade);
}

}  // namespace normd
