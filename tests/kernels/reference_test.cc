#include "kernels/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/kernels/arbitrary.h"
#include "tests/kernels/known_answers.h"

namespace normd {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<char> stored(DType dtype, const std::vector<double>& values) {
  std::vector<char> array(values.size() * size_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(dtype, array.data(), i, values[i]);
  }
  return array;
}

double textbook_variance(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size());
  return squares / count - sum / count * (sum / count);
}

// Some fp32 values were rounded to fp32 before they were printed; 16-bit values all were.
double fp32_rounding(DType y, const KnownY& known) {
  if (y != DType::fp32 || known.printed == 0) return 0;
  return 0.5 * unit_in_last_place(DType::fp32, known.value);
}

TEST(reference, every_known_answer_is_its_own) {
  for (const KnownAnswer& answer : known_answers()) {
    const Problem& problem = answer.problem;
    const auto x = stored(problem.x, answer.x);
    const auto gamma = stored(problem.gamma.value_or(DType::fp32), answer.gamma);
    const auto beta = stored(problem.beta.value_or(DType::fp32), answer.beta);
    const HostTensors tensors{.x = x.data(),
                              .gamma = gamma.data(),
                              .beta = beta.data(),
                              .x_row_stride = problem.columns,
                              .epsilon = answer.epsilon};
    ReferenceRow row;
    for (const KnownY& known : answer.y) {
      reference_row(problem, tensors, known.row, row);
      const double y = rounded_to(problem.y, row.y[static_cast<std::size_t>(known.column)]);
      if (std::isnan(known.value)) {
        EXPECT_TRUE(std::isnan(y)) << answer.name;
      } else {
        EXPECT_LE(std::fabs(y - known.value), known.printed + fp32_rounding(problem.y, known))
            << answer.name << " row " << known.row << " column " << known.column << ": " << y;
      }
    }
    for (const KnownStatistics& known : answer.statistics) {
      reference_row(problem, tensors, known.row, row);
      EXPECT_TRUE(are_known_statistics(known, row.mean, row.rstd))
          << answer.name << " row " << known.row << ": " << row.mean << " " << row.rstd;
    }
  }
}

// The example that shows why the variance is not taken as mean of squares minus square of the mean.
TEST(reference, a_spread_of_one_at_1e8_keeps_its_variance_in_double) {
  const std::vector<double> four{1e8 + 4, 1e8 + 7, 1e8 + 13, 1e8 + 16};
  const RowStatistics statistics = row_statistics(four);
  EXPECT_EQ(statistics.mean_high + statistics.mean_low, 1e8 + 10);
  EXPECT_EQ(statistics.variance, 22.5);
  EXPECT_GT(std::fabs(textbook_variance(four) - 22.5), 0.4);

  std::vector<double> many;
  for (int i = 0; i < 1000; ++i) many.push_back(1e8 + (i % 2 == 0 ? 1.0 : -1.0));
  EXPECT_EQ(row_statistics(many).variance, 1.0);
  EXPECT_LT(textbook_variance(many), 0.5);
}

// Integer data has exact sums, so mean and variance are known as fractions.
TEST(reference, statistics_agree_with_exact_integer_arithmetic) {
  NORMD_EXPECT_PROPERTY("mean S/N and variance (N Q - S S)/(N N)", [] {
    __extension__ using Wide = __int128;
    const auto offset = *rc::gen::inRange<std::int64_t>(-(1 << 23), 1 << 23);
    const auto spread = *rc::gen::inRange<std::int64_t>(1, 1000);
    const auto steps = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, spread)));
    std::vector<double> values;
    Wide sum = 0;
    Wide squares = 0;
    for (const std::int64_t step : steps) {
      values.push_back(static_cast<double>(offset + step));
      sum += step;  // a shift changes no variance
      squares += static_cast<Wide>(step) * step;
    }
    const auto count = static_cast<double>(steps.size());
    const auto numerator = static_cast<Wide>(steps.size()) * squares - sum * sum;
    const double variance = static_cast<double>(numerator) / (count * count);
    const double mean = static_cast<double>(offset) + static_cast<double>(sum) / count;
    const RowStatistics row = row_statistics(values);
    RC_ASSERT(std::fabs(row.variance - variance) <= 1e-12 * variance);
    RC_ASSERT(std::fabs(row.mean_high + row.mean_low - mean) <= 2e-16 * std::fabs(mean) + 1e-16);
  });
}

// Here the rounding of the mean to one double alone would cost 2e-6 of y: the low part is needed.
TEST(reference, one_step_in_a_wide_row_is_resolved) {
  const std::size_t columns = 4'194'301;
  std::vector<double> values(columns, 16777215.0);
  values[1234] -= 1.0;
  const RowStatistics row = row_statistics(values);
  const auto count = static_cast<double>(columns);
  const double rstd = 1.0 / std::sqrt(row.variance);
  const double outlier = (values[1234] - row.mean_high - row.mean_low) * rstd;
  EXPECT_NEAR(outlier / std::sqrt(count - 1), -1.0, 1e-12);
  const double other = (values[0] - row.mean_high - row.mean_low) * rstd;
  EXPECT_NEAR(other * std::sqrt(count - 1), 1.0, 1e-9);
}

TEST(reference, a_constant_row_has_deviations_of_exactly_zero) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const double value =
        rounded_to(DType::fp32, std::ldexp(static_cast<double>(random()), i % 100 - 80));
    const RowStatistics row = row_statistics(std::vector<double>(1 + random() % 5000, value));
    ASSERT_EQ(row.mean_high, value);
    ASSERT_EQ(row.mean_low, 0.0);
    ASSERT_EQ(row.variance, 0.0);
  }
}

ReferenceRow answer_for(const std::vector<double>& x, float epsilon) {
  const auto array = stored(DType::fp32, x);
  const Problem problem{.rows = 1, .columns = static_cast<std::int64_t>(x.size())};
  ReferenceRow row;
  reference_row(problem, {.x = array.data(), .x_row_stride = problem.columns, .epsilon = epsilon},
                0, row);
  return row;
}

TEST(reference, nan_and_infinity_make_their_whole_row_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    std::vector<double> x;
    double mean;
  };
  for (const Case& c : {Case{{1, 2, nan, 4}, nan}, Case{{1, infinity, 3, 4}, infinity},
                        Case{{1, -infinity, 3, 4}, -infinity}, Case{{infinity, -infinity}, nan}}) {
    const ReferenceRow row = answer_for(c.x, 1e-5f);
    for (const double y : row.y) EXPECT_TRUE(std::isnan(y));
    EXPECT_TRUE(std::isnan(row.rstd));
    EXPECT_TRUE(row.mean == c.mean || (std::isnan(row.mean) && std::isnan(c.mean)));
  }
}

TEST(reference, epsilon_is_used_as_the_float_it_is) {
  const ReferenceRow row = answer_for({0, 0}, 1e-5f);
  EXPECT_EQ(row.rstd, 1.0 / std::sqrt(static_cast<double>(1e-5f)));
  EXPECT_NE(row.rstd, 1.0 / std::sqrt(1e-5));
  EXPECT_EQ(answer_for({2, 2}, 0.0f).rstd, infinity);
}

TEST(reference, rows_are_found_by_stride_and_gaps_are_not_read) {
  std::vector<double> wide(3 * 16, 9e9);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      wide[row * 16 + column] = static_cast<double>(column);
    }
  }
  const auto array = stored(DType::fp32, wide);
  const Problem problem{.rows = 3, .columns = 8, .rows_layout = RowsLayout::strided};
  ReferenceRow row;
  for (std::int64_t i = 0; i < 3; ++i) {
    reference_row(problem, {.x = array.data(), .x_row_stride = 16, .epsilon = 1e-5f}, i, row);
    const double expected[] = {-1.5275238, -1.0910885, -0.6546531, -0.2182177};
    for (std::size_t column = 0; column < 4; ++column) {
      EXPECT_NEAR(row.y[column], expected[column], 1e-7);
      EXPECT_NEAR(row.y[7 - column], -expected[column], 1e-7);
    }
    EXPECT_EQ(row.x_max_abs, 7.0);
  }
}

TEST(reference, gamma_and_beta_are_read_in_their_own_dtypes) {
  const auto x = stored(DType::fp16, {1, 2, 3, 4});
  const auto gamma = stored(DType::bf16, {1, 2, 3, 4});
  const auto beta = stored(DType::fp32, {10, 20, 30, 40});
  const Problem problem{.rows = 1,
                        .columns = 4,
                        .x = DType::fp16,
                        .y = DType::bf16,
                        .gamma = DType::bf16,
                        .beta = DType::fp32,
                        .align_bytes = 2};
  ReferenceRow row;
  reference_row(problem,
                {.x = x.data(),
                 .gamma = gamma.data(),
                 .beta = beta.data(),
                 .x_row_stride = 4,
                 .epsilon = 1e-5f},
                0, row);
  EXPECT_NEAR(row.y[0], 8.6583643, 5e-7);
  EXPECT_NEAR(row.y[3], 45.3665428, 2e-6);
  EXPECT_NEAR(row.normalised[3], 1.3416355, 1e-7);
}

}  // namespace
}  // namespace normd
