#include "kernels/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernels/spoilt_answer.h"

namespace normd {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();

Answer normal_rows(DType y, std::int64_t rows = 4, std::size_t columns = 257) {
  return Answer(
      std::vector<std::vector<float>>(static_cast<std::size_t>(rows), make_row({0, 1}, columns)),
      y);
}

Comparison compare_float_norm(FloatNorm how, const std::vector<float>& row, std::size_t threads,
                              DType y, const Tolerance& tolerance) {
  Answer answer({row}, y);
  answer.set_row(0, float_norm(how, row, threads, 1e-5f));
  return answer.compare_all(tolerance);
}

Tolerance taught(std::size_t sequential_adds) {
  return {.grade = Grade::taught, .sequential_adds = static_cast<std::int64_t>(sequential_adds)};
}

TEST(tolerance, a_correct_fp32_computation_passes_on_every_kind) {
  for (const DataKind& kind : kinds) {
    for (const std::size_t columns : {1, 2, 33, 1000, 4096, 65536}) {
      for (const DType y : all_dtypes) {
        const Comparison found =
            compare_float_norm(FloatNorm::hi_lo_two_pass, make_row(kind, columns), 256, y, {});
        EXPECT_EQ(found.failure, "") << kind.mean << " " << kind.spread << " " << columns;
        EXPECT_EQ(found.elements, static_cast<std::int64_t>(columns));
      }
    }
  }
}

TEST(tolerance, the_textbook_two_pass_passes_as_taught_and_fails_as_exact) {
  int failed_as_exact = 0;
  for (const DataKind& kind : kinds) {
    for (const std::size_t threads : {1, 32, 256}) {
      const std::size_t columns = 2048;
      const auto as = [&](const Tolerance& tolerance) {
        return compare_float_norm(FloatNorm::two_pass, make_row(kind, columns), threads,
                                  DType::fp32, tolerance);
      };
      EXPECT_EQ(as(taught(columns / threads)).failure, "") << kind.mean << " " << threads;
      if (!as({}).failure.empty()) ++failed_as_exact;
    }
  }
  EXPECT_GT(failed_as_exact, 6);
}

TEST(tolerance, mean_of_squares_minus_square_of_mean_fails_in_each_grade) {
  const std::size_t columns = 4096;
  std::vector<std::vector<float>> rows;
  for (const DataKind& kind : kinds) rows.push_back(make_row(kind, columns));
  for (const double middle : {106.61, 150.37, 182.46}) {
    rows.push_back(make_two_valued_row(middle, columns));
  }
  for (const std::size_t sequential_adds : {1, 4, 16, 64, 256, 1024, 4096}) {
    int failed_as_exact = 0;
    int failed_as_taught = 0;
    for (const auto& row : rows) {
      const auto fails = [&](const Tolerance& tolerance) {
        return !compare_float_norm(FloatNorm::mean_of_squares, row, columns / sequential_adds,
                                   DType::fp32, tolerance)
                    .failure.empty();
      };
      if (fails({})) ++failed_as_exact;
      if (fails(taught(sequential_adds))) ++failed_as_taught;
    }
    EXPECT_GT(failed_as_exact, 0) << sequential_adds;
    EXPECT_GT(failed_as_taught, 0) << sequential_adds;
  }
}

TEST(tolerance, one_value_in_the_wrong_place_fails_and_is_named) {
  for (const DType y : all_dtypes) {
    Answer answer = normal_rows(y);
    ASSERT_EQ(answer.compare_all().failure, "");
    const double value = answer.y(2, 100);
    answer.set_y(2, 100, answer.y(2, 101));
    const Comparison found = answer.compare_all();
    EXPECT_NE(found.failure.find("y row 2 column 100: got "), std::string::npos) << found.failure;
    EXPECT_GT(found.error_over_bound, 1);
    EXPECT_NEAR(found.error_max, std::fabs(answer.y(2, 100) - value), 0.01);
    EXPECT_EQ(answer.compare_rows(0, 2, {}).failure, "");
    EXPECT_NE(answer.compare_rows(2, 3, {}).failure, "");
    EXPECT_EQ(answer.compare_rows(3, 4, {}).failure, "");
  }
}

TEST(tolerance, one_nan_fails) {
  for (const DType y : all_dtypes) {
    Answer answer = normal_rows(y);
    answer.set_y(3, 256, static_cast<double>(nan_float));
    EXPECT_NE(answer.compare_all().failure.find("y row 3 column 256: got nan"), std::string::npos);
    EXPECT_EQ(answer.compare_all().error_over_bound, infinity);
  }
}

TEST(tolerance, an_output_that_was_not_written_fails) {
  for (const DType y : all_dtypes) {
    for (const int poison : {0xff, 0x00, 0x7b}) {
      Answer answer = normal_rows(y);
      std::memset(answer.y_bytes().data(), poison, answer.y_bytes().size());
      EXPECT_NE(answer.compare_all().failure, "");
    }
  }
  Answer answer = normal_rows(DType::fp32);
  answer.mean()[1] = nan_float;
  EXPECT_NE(answer.compare_all().failure.find("mean row 1: got nan"), std::string::npos);
}

TEST(tolerance, a_16_bit_output_passes_when_rounded_right_and_fails_two_units_off) {
  for (const DType y : {DType::fp16, DType::bf16}) {
    Answer answer = normal_rows(y);
    const Comparison right = answer.compare_all();
    EXPECT_EQ(right.failure, "");
    EXPECT_GT(right.error_over_bound, 0.9);
    for (const double units : {-2.0, 2.0}) {
      for (std::int64_t column = 0; column < 257; ++column) {
        Answer wrong = normal_rows(y, 1);
        const double value = wrong.y(0, column);
        wrong.set_y(0, column, value + units * unit_in_last_place(y, value));
        ASSERT_NE(wrong.compare_all().failure, "") << column;
      }
    }
  }
}

TEST(tolerance, small_errors_everywhere_fail_as_a_whole) {
  Answer answer = normal_rows(DType::fp32);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 257; ++column) {
      answer.set_y(row, column, answer.y(row, column) + 1.5e-6);
    }
  }
  const Comparison found = answer.compare_all();
  EXPECT_LT(found.error_over_bound, 1);
  EXPECT_NE(found.failure.find("relative L2"), std::string::npos);
  EXPECT_EQ(answer.compare_all(taught(1)).failure, "");
}

TEST(tolerance, subnormal_halves_that_are_rounded_right_pass) {
  std::vector<float> row = make_row({0, 1e-9}, 512);  // epsilon rules: y is around 3e-7
  EXPECT_EQ(Answer({row}, DType::fp16).compare_all().failure, "");
  row = make_row({0, 1e-42}, 512);
  EXPECT_EQ(Answer({row}, DType::fp32).compare_all().failure, "");
}

TEST(tolerance, wrong_statistics_fail_and_are_named) {
  const std::vector<float> row = make_row({100, 1}, 64);
  Answer answer({row, row}, DType::fp32);
  ASSERT_EQ(answer.compare_all().failure, "");
  answer.mean()[1] += 3e-4f;
  EXPECT_NE(answer.compare_all().failure.find("mean row 1: got 1"), std::string::npos);
  answer.mean()[1] -= 3e-4f;
  answer.rstd()[0] *= 1.000003f;
  EXPECT_NE(answer.compare_all().failure.find("rstd row 0: got "), std::string::npos);
}

TEST(tolerance, a_nan_row_must_be_nan_and_an_infinite_mean_infinite) {
  const float inf = std::numeric_limits<float>::infinity();
  Answer answer({{1, 2, 3, nan_float}, {inf, 1, 2, 3}, {1, 2, 3, 4}}, DType::fp32);
  ASSERT_EQ(answer.compare_all().failure, "");
  ASSERT_EQ(answer.mean()[1], inf);
  answer.mean()[1] = -inf;
  EXPECT_NE(answer.compare_all().failure, "");
  answer.mean()[1] = nan_float;
  EXPECT_NE(answer.compare_all().failure, "");
  answer.mean()[1] = inf;
  answer.set_y(0, 1, 0.0);
  EXPECT_NE(answer.compare_all().failure.find("y row 0 column 1: got 0, expected nan"),
            std::string::npos);
  EXPECT_NE(answer.compare_all(taught(4)).failure, "");
}

TEST(tolerance, only_a_taught_template_may_lose_an_infinite_mean) {
  Answer answer({{1, std::numeric_limits<float>::infinity(), 3, 4}}, DType::fp32);
  answer.mean()[0] = nan_float;
  EXPECT_NE(answer.compare_all().failure, "");
  EXPECT_EQ(answer.compare_all(taught(4)).failure, "");
  answer.mean()[0] = -std::numeric_limits<float>::infinity();
  EXPECT_NE(answer.compare_all(taught(4)).failure, "");
}

TEST(tolerance, infinity_counts_only_where_the_right_answer_rounds_to_it) {
  EXPECT_EQ(error_over_bound(DType::fp16, infinity, infinity, 1), 0.0);
  EXPECT_EQ(error_over_bound(DType::fp16, -infinity, infinity, 1), infinity);
  EXPECT_EQ(error_over_bound(DType::fp16, infinity, 65519.0, 16 + 2.0), 1.0);
  EXPECT_EQ(error_over_bound(DType::fp16, infinity, 65504.0, 16 + 2.0), infinity);
  EXPECT_EQ(error_over_bound(DType::fp16, -infinity, 65519.0, 16 + 2.0), infinity);
  EXPECT_EQ(error_over_bound(DType::fp16, infinity, 1e6, 16 + 2.0), 1.0);
  EXPECT_EQ(error_over_bound(DType::fp32, 1.0, infinity, infinity), infinity);
  EXPECT_EQ(error_over_bound(DType::fp32, 1.0, 1.0, 0.0), 0.0);
  EXPECT_EQ(error_over_bound(DType::fp32, 1.5, 1.0, 0.0), infinity);
  EXPECT_EQ(error_over_bound(DType::fp32, 1.5, 1.0, 0.25), 2.0);
}

TEST(tolerance, bounds_are_the_stated_ones) {
  const Problem in_fp32{.rows = 1, .columns = 1, .y = DType::fp32};
  const Problem in_fp16{.rows = 1, .columns = 1, .y = DType::fp16};
  EXPECT_DOUBLE_EQ(y_bound(in_fp32, 7.0, 3.0, -2.0, 1.0, 0), 2e-6 * (2 * 4 + 1));
  EXPECT_DOUBLE_EQ(y_bound(in_fp16, 7.0, 3.0, -2.0, 1.0, 0), 2e-6 * (2 * 4 + 1) + 0x1p-9);
  EXPECT_DOUBLE_EQ(y_bound(in_fp32, 7.0, 3.0, 2.0, 1.0, 0.01), 2e-6 * 9 + 0.01 * 8);
  EXPECT_DOUBLE_EQ(mean_bound(100, 0, 2), 1e-4);
  EXPECT_DOUBLE_EQ(mean_bound(100, 0.01, 2), 1e-4 + 0.005);
  EXPECT_GT(mean_bound(0, 0, infinity), 0);
  EXPECT_DOUBLE_EQ(rstd_bound(4, 0), 4e-6);
  EXPECT_DOUBLE_EQ(rstd_bound(4, 0.01), 0.040004);
  EXPECT_EQ(relative_l2_bound(DType::fp32), 3e-7);
  EXPECT_EQ(relative_l2_bound(DType::fp16), 2.2e-4);
  EXPECT_EQ(relative_l2_bound(DType::bf16), 1.8e-3);
}

TEST(tolerance, the_widening_follows_the_mean_and_the_additions) {
  EXPECT_EQ(taught_widening({}, 1e5, 10), 0.0);
  EXPECT_DOUBLE_EQ(taught_widening(taught(8), 0.5, 1), 16 * 0x1p-24);
  EXPECT_DOUBLE_EQ(taught_widening(taught(8), -100, 2), 3200 * 0x1p-24);
  EXPECT_DOUBLE_EQ(taught_widening(taught(8), infinity, nan_float), 16 * 0x1p-24);
}

TEST(tolerance, rows_that_cannot_gate_a_taught_template_are_left_out) {
  const std::vector<float> plain = make_row({0, 1}, 64);
  Answer answer({plain, std::vector<float>(64, 1234.0f), plain}, DType::fp32);
  answer.set_y(1, 5, 1e9);
  ASSERT_GT(taught_widening(taught(64), 1234.0, 316.2), widening_max);
  const Comparison found = answer.compare_all(taught(64));
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.elements, 128);
  EXPECT_NE(answer.compare_all().failure, "");
}

TEST(tolerance, gaps_between_strided_rows_are_not_looked_at) {
  const std::vector<float> x{0, 1, 2, 3, 9e9f, nan_float, 3, 2, 1, 0, 9e9f, nan_float};
  const std::vector<float> y{-1.3416355f, -0.4472118f, 0.4472118f,  1.3416355f,  nan_float,
                             1.3416355f,  0.4472118f,  -0.4472118f, -1.3416355f, nan_float};
  const Problem problem{
      .rows = 2, .columns = 4, .rows_layout = RowsLayout::strided, .align_bytes = 4};
  const Comparison found = compare(problem, {.x = x.data(), .x_row_stride = 6, .epsilon = 1e-5f},
                                   {.y = y.data(), .y_row_stride = 5}, {}, 0, 2);
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.elements, 8);
}

}  // namespace
}  // namespace normd
