#include "tuner/worker/input_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace normd {
namespace {

struct Moments {
  double mean = 0;
  double spread = 0;
};

Moments moments_of(const std::vector<char>& row, DType dtype) {
  const std::size_t count = row.size() / size_bytes(dtype);
  Moments moments;
  for (std::size_t i = 0; i < count; ++i) moments.mean += load_element(dtype, row.data(), i);
  moments.mean /= static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    moments.spread += std::pow(load_element(dtype, row.data(), i) - moments.mean, 2);
  }
  moments.spread = std::sqrt(moments.spread / static_cast<double>(count));
  return moments;
}

TEST(input_data, rows_have_the_moments_their_kind_promises) {
  const Moments normal = moments_of(make_row(RowKind::normal, DType::fp32, 20000, 1), DType::fp32);
  EXPECT_NEAR(normal.mean, 0, 0.03);
  EXPECT_NEAR(normal.spread, 1, 0.03);
  const Moments thousand =
      moments_of(make_row(RowKind::thousand, DType::fp32, 20000, 2), DType::fp32);
  EXPECT_NEAR(thousand.mean, 1000, 0.1);
  EXPECT_NEAR(thousand.spread, 0.1, 0.01);
  const Moments steep = moments_of(make_row(RowKind::mean_1e5, DType::fp32, 20000, 3), DType::fp32);
  EXPECT_NEAR(steep.mean / steep.spread, 1e5, 5e3);
}

// Once or twice the spread is what a first pass bears (near_enough() in
// kernels/templates/moments.cuh), of the median of three, each of up to four elements.
TEST(input_data, every_dtype_and_grade_has_rows_whose_first_elements_lie_far_from_the_mean) {
  for (const DType dtype : all_dtypes) {
    for (const Grade grade : {Grade::exact, Grade::taught}) {
      const std::vector<RowKind> kinds = row_kinds(dtype, grade);
      const auto place = std::find(kinds.begin(), kinds.end(), RowKind::far_first);
      ASSERT_NE(place, kinds.end());
      // Between rows of other kinds, in a laying of few rows too.
      EXPECT_NE(place, kinds.begin());
      EXPECT_NE(place + 1, kinds.end());
    }
    for (const std::int64_t columns : {20, 63, 64, 1001, 65536}) {
      const std::int64_t far = far_elements(dtype, columns);
      EXPECT_GE(far, dtype == DType::fp32 ? 8 : 3);
      const auto row = make_row(RowKind::far_first, dtype, columns, 1);
      const Moments moments = moments_of(row, dtype);
      for (std::size_t i = 0; i < static_cast<std::size_t>(far); ++i) {
        EXPECT_GT((load_element(dtype, row.data(), i) - moments.mean) / moments.spread,
                  dtype == DType::fp32 && columns < 64 ? 1.2 : 2.3);
      }
    }
    EXPECT_EQ(make_row(RowKind::far_first, dtype, 2, 1).size(), 2 * size_bytes(dtype));
  }
}

TEST(input_data, every_dtype_has_rows_with_nan_infinity_equal_values_and_an_overflowing_square) {
  for (const DType dtype : all_dtypes) {
    const auto nan = make_row(RowKind::with_nan, dtype, 9, 1);
    EXPECT_TRUE(std::isnan(load_element(dtype, nan.data(), 8)));
    EXPECT_FALSE(std::isnan(load_element(dtype, nan.data(), 7)));
    const auto infinite = make_row(RowKind::with_infinity, dtype, 9, 1);
    EXPECT_TRUE(std::isinf(load_element(dtype, infinite.data(), 0)));
    EXPECT_EQ(moments_of(make_row(RowKind::constant, dtype, 9, 1), dtype).spread, 0);
    if (dtype != DType::fp16) {
      const double spread = moments_of(make_row(RowKind::huge, dtype, 99, 1), dtype).spread;
      EXPECT_GT(spread * spread, 3.5e38);
    }
  }
}

TEST(input_data, every_dtype_has_rows_whose_sum_overflows_and_rows_of_subnormal_numbers) {
  for (const DType dtype : all_dtypes) {
    const auto large = make_row(RowKind::sum_overflows, dtype, 99, 1);
    const auto small = make_row(RowKind::subnormal, dtype, 99, 1);
    const double end = dtype == DType::fp16 ? 65504.0 : 3.4e38;
    const double normal_min = dtype == DType::fp16 ? 0x1p-14 : 0x1p-126;
    double sum = 0;
    for (std::size_t i = 0; i < 99; ++i) {
      sum += load_element(dtype, large.data(), i);
      EXPECT_LT(std::fabs(load_element(dtype, large.data(), i)), end);
      EXPECT_LT(std::fabs(load_element(dtype, small.data(), i)), normal_min);
    }
    EXPECT_GT(sum, end);
    EXPECT_GT(moments_of(small, dtype).spread, 0);
  }
}

TEST(input_data, the_same_seed_gives_the_same_bytes_and_another_seed_others) {
  EXPECT_EQ(make_normal(DType::bf16, 1000, 5), make_normal(DType::bf16, 1000, 5));
  EXPECT_NE(make_normal(DType::bf16, 1000, 5), make_normal(DType::bf16, 1000, 6));
}

TEST(input_data, gamma_and_beta_cannot_be_taken_for_each_other) {
  const auto gamma = make_gamma(DType::fp32, 64, 1);
  const auto beta = make_beta(DType::fp32, 64, 1);
  EXPECT_NEAR(moments_of(gamma, DType::fp32).mean, 1, 0.15);
  EXPECT_NEAR(moments_of(beta, DType::fp32).mean, 0, 0.15);
}

TEST(input_data, teaching_templates_are_spared_what_fp32_cannot_hold) {
  for (const DType dtype : all_dtypes) {
    for (const RowKind kind : row_kinds(dtype, Grade::taught)) {
      EXPECT_NE(kind, RowKind::huge);
      EXPECT_NE(kind, RowKind::sum_overflows);
      EXPECT_NE(kind, RowKind::tiny);
      EXPECT_NE(kind, RowKind::subnormal);
    }
    EXPECT_LE(row_kinds(dtype, Grade::exact).size(), static_cast<std::size_t>(row_kinds_max));
  }
}

}  // namespace
}  // namespace normd
