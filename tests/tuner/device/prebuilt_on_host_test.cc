// The two kernels that are compiled with the project, on the host device: the fallback held to the
// reference for every combination of dtypes, and the checker held to compare() of tolerance.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/catalog.h"
#include "kernels/check_arguments.h"
#include "tests/tuner/device/host_bench.h"
#include "tuner/compiler/prebuilt.h"

namespace normd {
namespace {

const Stats all_stats[] = {Stats::none, Stats::mean, Stats::rstd, Stats::mean_rstd};

class AnyColumns : public testing::Test {
 protected:
  AnyColumns() {
    const auto binary = prebuilt_binary(Prebuilt::any_columns, bench_.device().spec());
    NORMD_CHECK(binary.has_value());
    kernels_ = bench_.load(*binary, any_columns_launch());
  }

  void expect_right(const Problem& problem, std::uint32_t seed) {
    bench_.run_and_compare(kernels_, make_inputs(problem, Grade::exact, seed), {},
                           to_text(problem) + " seed " + std::to_string(seed));
  }

  HostBench bench_{1};
  HostBench::Kernels kernels_;
};

TEST_F(AnyColumns, every_combination_of_dtypes_matches_the_reference) {
  using Optional = std::optional<DType>;
  const Optional affine[] = {{}, DType::fp32, DType::fp16, DType::bf16};
  std::uint32_t seed = 0;
  for (const DType x : all_dtypes) {
    for (const DType y : all_dtypes) {
      for (const Optional& gamma : affine) {
        for (const Optional& beta : affine) {
          ++seed;
          const bool strided = seed % 3 == 0;
          expect_right({.rows = 11,
                        .columns = 100 + seed % 7,
                        .x = x,
                        .y = y,
                        .gamma = gamma,
                        .beta = beta,
                        .stats = all_stats[seed % 4],
                        .rows_layout = strided ? RowsLayout::strided : RowsLayout::contiguous,
                        .align_bytes = 2},
                       seed);
        }
      }
    }
  }
}

TEST_F(AnyColumns, every_width_up_to_130_and_some_wide_ones_match_the_reference) {
  std::vector<std::int64_t> widths{255, 256, 257, 513, 4099, 20001};
  for (std::int64_t columns = 1; columns <= 130; ++columns) widths.push_back(columns);
  for (const std::int64_t columns : widths) {
    const DType dtype = all_dtypes[columns % 3];
    expect_right({.rows = 11,
                  .columns = columns,
                  .x = dtype,
                  .y = dtype,
                  .gamma = DType::fp32,
                  .beta = dtype,
                  .stats = Stats::mean_rstd,
                  .align_bytes = static_cast<int>(size_bytes(dtype))},
                 static_cast<std::uint32_t>(columns));
  }
}

TEST_F(AnyColumns, known_answers_are_given) {
  for (const KnownAnswer& answer : known_answers()) {
    NormInputs inputs = inputs_of(answer.problem, answer.x, answer.gamma, answer.beta,
                                  answer.problem.columns, answer.problem.columns);
    inputs.epsilon = answer.epsilon;
    for (const Place place : {Place::apart, Place::in_place}) {
      const NormOutputs outputs = bench_.run(kernels_, inputs, place, answer.name);
      expect_known(answer, inputs, outputs, {}, answer.name);
    }
  }
}

TEST_F(AnyColumns, no_rows_launch_nothing) {
  const Problem problem{.rows = 0, .columns = 1024, .stats = Stats::mean_rstd};
  const NormOutputs outputs =
      bench_.run(kernels_, inputs_of(problem, {}, {}, {}, 1024, 1024), Place::apart, "no rows");
  EXPECT_TRUE(outputs.y.empty());
}

// What a run of the checker over one answer found, its blocks' records taken together.
struct Checked {
  std::int64_t failures = 0;
  CheckRecord worst = {};
};

class CheckRows : public testing::Test {
 protected:
  CheckRows() {
    const auto binary = prebuilt_binary(Prebuilt::check_rows, bench_.device().spec());
    NORMD_CHECK(binary.has_value());
    kernels_ = bench_.load(*binary, check_rows_launch());
  }

  // The right answer, rounded to the output's dtype, of which tests spoil some.
  static NormOutputs right_answer(const NormInputs& inputs) {
    const Problem& problem = inputs.problem;
    NormOutputs outputs{
        .y = {}, .mean = {}, .rstd = {}, .y_row_stride = inputs.y_row_stride, .damage = {}};
    outputs.y.assign(
        static_cast<std::size_t>(problem.rows * inputs.y_row_stride) * size_bytes(problem.y), 0x5a);
    ReferenceRow row;
    for (std::int64_t r = 0; r < problem.rows; ++r) {
      reference_row(problem, inputs.tensors(), r, row);
      for (std::size_t i = 0; i < row.y.size(); ++i) {
        const auto at = static_cast<std::size_t>(r * inputs.y_row_stride) + i;
        store_element(problem.y, outputs.y.data(), at, row.y[i]);
      }
      if (wants_mean(problem.stats)) outputs.mean.push_back(static_cast<float>(row.mean));
      if (wants_rstd(problem.stats)) outputs.rstd.push_back(static_cast<float>(row.rstd));
    }
    return outputs;
  }

  static const void* or_null(const void* address, bool wanted) {
    return wanted ? address : nullptr;
  }

  // The host device's addresses are this process's own, so the arrays are handed over as they are.
  Checked check(const NormInputs& inputs, const NormOutputs& outputs, const Tolerance& tolerance) {
    const Problem& problem = inputs.problem;
    std::vector<CheckRecord> records(
        static_cast<std::size_t>(grid_blocks(check_rows_launch(), problem.rows)));
    const CheckArguments arguments{
        .x = inputs.x.data(),
        .gamma = or_null(inputs.gamma.data(), problem.gamma.has_value()),
        .beta = or_null(inputs.beta.data(), problem.beta.has_value()),
        .y = outputs.y.data(),
        .mean = outputs.tensors().mean,
        .rstd = outputs.tensors().rstd,
        .records = records.data(),
        .rows = problem.rows,
        .columns = problem.columns,
        .x_row_stride = inputs.x_row_stride,
        .y_row_stride = outputs.y_row_stride,
        .sequential_adds =
            tolerance.grade == Grade::exact ? 0.0 : static_cast<double>(tolerance.sequential_adds),
        .epsilon = inputs.epsilon,
        .flags = dtype_flags(problem)};
    const auto done =
        bench_.device().launch({kernels_[0].get(), bytes_of(arguments), problem.rows});
    EXPECT_TRUE(done) << done.error().message;
    Checked all{.failures = 0, .worst = {.row = -1}};
    for (const CheckRecord& record : records) {
      all.failures += record.failures;
      all.worst.error_square_sum += record.error_square_sum;
      all.worst.square_sum += record.square_sum;
      all.worst.error_max = std::max(all.worst.error_max, record.error_max);
      if (record.row < 0 || record.error_over_bound < all.worst.error_over_bound) continue;
      all.worst.row = record.row;
      all.worst.column = record.column;
      all.worst.error_over_bound = record.error_over_bound;
    }
    return all;
  }

  // Both judges on one answer.
  void expect_agreement(const NormInputs& inputs, const NormOutputs& outputs,
                        const Tolerance& tolerance, const std::string& what) {
    const Checked checked = check(inputs, outputs, tolerance);
    const Comparison found = compare(inputs.problem, inputs.tensors(), outputs.tensors(), tolerance,
                                     0, inputs.problem.rows);
    EXPECT_EQ(checked.failures > 0, found.error_over_bound > 1) << what << ": " << found.failure;
    if (std::isinf(found.error_over_bound)) {
      EXPECT_EQ(checked.worst.error_over_bound, found.error_over_bound) << what;
    } else {
      EXPECT_NEAR(checked.worst.error_over_bound, found.error_over_bound,
                  1e-5 * found.error_over_bound + 1e-9)
          << what;
    }
    EXPECT_NEAR(checked.worst.error_max, found.error_max, 1e-7 * found.error_max + 1e-12) << what;
    if (checked.worst.square_sum > 0) {
      EXPECT_NEAR(std::sqrt(checked.worst.error_square_sum / checked.worst.square_sum),
                  found.relative_l2, 1e-6 * found.relative_l2 + 1e-12)
          << what;
    }
  }

  HostBench bench_{1};
  HostBench::Kernels kernels_;
};

Problem checked_problem(std::uint32_t turn) {
  using Optional = std::optional<DType>;
  const Optional affine[] = {{}, DType::fp32, DType::fp16, DType::bf16};
  return {.rows = 21,
          .columns = 1 + turn * 37 % 300,
          .x = all_dtypes[turn % 3],
          .y = all_dtypes[turn / 3 % 3],
          .gamma = affine[turn % 4],
          .beta = affine[turn / 4 % 4],
          .stats = all_stats[turn / 2 % 4],
          .rows_layout = turn % 5 == 0 ? RowsLayout::strided : RowsLayout::contiguous,
          .align_bytes = 2};
}

TEST_F(CheckRows, a_right_answer_passes_both_judges) {
  for (std::uint32_t turn = 0; turn < 48; ++turn) {
    const NormInputs inputs = make_inputs(checked_problem(turn), Grade::exact, turn);
    const NormOutputs outputs = right_answer(inputs);
    const std::string what = to_text(inputs.problem);
    EXPECT_EQ(check(inputs, outputs, {}).failures, 0) << what;
    expect_agreement(inputs, outputs, {}, what);
    expect_agreement(inputs, outputs, {.grade = Grade::taught, .sequential_adds = 8}, what);
  }
}

TEST_F(CheckRows, a_wrong_answer_fails_before_both_judges_at_the_same_place) {
  for (std::uint32_t turn = 0; turn < 48; ++turn) {
    NormInputs inputs = make_inputs(checked_problem(turn), Grade::exact, turn);
    const Problem& problem = inputs.problem;
    NormOutputs outputs = right_answer(inputs);
    const std::int64_t row = turn % 2 == 0 ? 0 : 10;  // normal data: kinds repeat after ten rows
    const std::int64_t column = turn % problem.columns;
    ReferenceRow expected;
    reference_row(problem, inputs.tensors(), row, expected);
    if (std::isnan(expected.y[0])) continue;
    const double wrong[] = {expected.y[static_cast<std::size_t>(column)] + 0.5,
                            std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()};
    store_element(problem.y, outputs.y.data(),
                  static_cast<std::size_t>(row * outputs.y_row_stride + column), wrong[turn % 3]);
    const std::string what = to_text(problem);
    const Checked checked = check(inputs, outputs, {});
    EXPECT_EQ(checked.failures, 1) << what;
    EXPECT_EQ(checked.worst.row, row) << what;
    EXPECT_EQ(checked.worst.column, column) << what;
    expect_agreement(inputs, outputs, {}, what);
    expect_agreement(inputs, outputs, {.grade = Grade::taught, .sequential_adds = 8}, what);
  }
}

TEST_F(CheckRows, wrong_statistics_fail_by_name) {
  const Problem problem{.rows = 6, .columns = 77, .stats = Stats::mean_rstd};
  const NormInputs inputs = make_inputs(problem, Grade::exact, 0);  // row 1 has mean 1000
  NormOutputs outputs = right_answer(inputs);
  outputs.mean[1] += 0.01f;
  EXPECT_EQ(check(inputs, outputs, {}).worst.column, -1);
  EXPECT_EQ(check(inputs, outputs, {}).worst.row, 1);
  expect_agreement(inputs, outputs, {}, "mean");
  outputs = right_answer(inputs);
  outputs.rstd[2] *= 1.00001f;
  EXPECT_EQ(check(inputs, outputs, {}).worst.column, -2);
  EXPECT_EQ(check(inputs, outputs, {}).worst.row, 2);
  expect_agreement(inputs, outputs, {}, "rstd");
}

TEST_F(CheckRows, more_rows_than_blocks_are_all_looked_at) {
  const Problem problem{.rows = 2100, .columns = 3};
  const NormInputs inputs = make_inputs(problem, Grade::exact, 0);
  NormOutputs outputs = right_answer(inputs);
  EXPECT_EQ(check(inputs, outputs, {}).failures, 0);
  for (const std::size_t row : {0, 1040, 2090}) {  // of the normal kind
    store_element(DType::fp32, outputs.y.data(), row * 3 + 1, 9.0);
  }
  EXPECT_EQ(check(inputs, outputs, {}).failures, 3);
}

}  // namespace
}  // namespace normd
