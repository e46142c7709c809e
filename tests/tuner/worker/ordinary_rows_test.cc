// How near the answers come on ordinary data, where others come near as well: the largest error of
// an fp32 y over many normal rows, in half units in its last place, by the first candidate of every
// exact template. The bounds that every answer keeps (kernels/tolerance.h) allow
// far more. Built for the host device and for the first GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "tests/kernels/template_names.h"
#include "tests/tuner/device/guarded_run.h"
#include "tests/tuner/worker/mutants.h"
#include "tests/tuner/worker/on_device.h"
#include "tuner/compiler/compiler.h"

namespace normd {
namespace {

// Under a sanitizer the numbers are the same and every row takes ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t widths[] = {40, 1001};
#else
constexpr std::int64_t widths[] = {16, 40, 250, 256, 1000, 1001, 4096, 16384, 65536};
#endif
constexpr double means[] = {0, 0.5, 1.7, 3, 10, 1000};
constexpr std::uint32_t seeds = 1;

// Of 4, which the largest of some ten thousand normal numbers passes. (Plain sums in float by two
// passes need as many at a mean of 0 to 3, and twice as many at 10.)
constexpr double half_units_max = 4;

Problem problem_of(std::int64_t columns) {
  return {.rows = columns > 16384 ? 16 : 64,
          .columns = columns,
          .x = DType::fp32,
          .y = DType::fp32,
          .stats = Stats::mean_rstd,
          .align_bytes = 16};
}

NormInputs normal_rows(const Problem& problem, double mean, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean, 1);
  std::vector<double> x(static_cast<std::size_t>(problem.rows * problem.columns));
  for (double& value : x) value = normal(random);
  return inputs_of(problem, x, {}, {}, problem.columns, problem.columns);
}

double largest_magnitude(const NormInputs& inputs) {
  double largest = 0;
  ReferenceRow expected;
  for (std::int64_t row = 0; row < inputs.problem.rows; ++row) {
    reference_row(inputs.problem, inputs.tensors(), row, expected);
    for (const double y : expected.y) largest = std::max(largest, std::fabs(y));
  }
  return largest;
}

class OrdinaryRows : public OnDevice, public testing::WithParamInterface<std::string> {
 protected:
  // The largest error over all rows, in half units in the last place of 4.
  double largest_error(const Source& source, const Launch& launch, const Problem& problem,
                       double mean) {
    const auto binary = compile(source);
    EXPECT_TRUE(binary) << binary.error().message;
    if (!binary) return 1e9;
    auto kernel = device_->load(*binary, launch);
    EXPECT_TRUE(kernel) << kernel.error().message;
    if (!kernel) return 1e9;
    double largest = 0;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      const NormInputs inputs = normal_rows(problem, mean, seed);
      EXPECT_LT(largest_magnitude(inputs), 8);
      const auto outputs = run_guarded(*device_, **kernel, inputs, Place::apart);
      EXPECT_TRUE(outputs) << outputs.error().message;
      if (!outputs) return 1e9;
      const Comparison found =
          compare(problem, inputs.tensors(), outputs->tensors(), {}, 0, problem.rows);
      EXPECT_EQ(found.failure, "");
      largest = std::max(largest, found.error_max);
    }
    return largest / (0.5 * unit_in_last_place(DType::fp32, 4.0));
  }

  double largest_error(const Candidate& candidate, const Problem& problem, double mean,
                       const std::vector<Change>& changes = {}) {
    return largest_error(mutant(problem, candidate, changes),
                         launch_of(candidate, problem, test_device_spec()), problem, mean);
  }

  // The one that comes first in the order.
  static std::optional<Candidate> first_of(std::string_view name, const Problem& problem) {
    for (const Candidate& candidate : ranked_candidates(problem, test_device_spec())) {
      if (candidate.template_name == name) return candidate;
    }
    return std::nullopt;
  }
};

// The final rounding of y is one half unit; the reciprocal of the deviation, which y is a product
// of, is rounded by up to one more; the sums of squares and the shift have the rest.
TEST_P(OrdinaryRows, are_right_to_a_few_half_units_whatever_their_mean) {
  for (const std::int64_t columns : widths) {
    const Problem problem = problem_of(columns);
    const auto candidate = first_of(GetParam(), problem);
    if (!candidate) continue;
    for (const double mean : means) {
      const double error = largest_error(*candidate, problem, mean);
      EXPECT_LE(error, half_units_max)
          << to_text(*candidate) << " for " << to_text(problem) << ", mean " << mean;
      std::printf("%s, %lld columns, mean %g: %.2f half units\n", GetParam().c_str(),
                  static_cast<long long>(columns), mean, error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(catalog, OrdinaryRows, testing::ValuesIn(exact_template_names()),
                         [](const auto& name) { return name.param; });

class CoarseRows : public OrdinaryRows {};

// What 16-bit answers do with: one pass up to a mean of two deviations, and a coarser reciprocal.
TEST_F(CoarseRows, are_found_out) {
  double largest = 0;
  for (const auto& [columns, mean] : {std::pair{1000, 0.0},
                                      {1000, 3.0},
                                      {1024, 0.5},
                                      {4096, 0.0},
                                      {4096, 0.5},
                                      {4096, 1.7},
                                      {4096, 3.0},
                                      {8192, 0.5}}) {
    const Problem problem = problem_of(columns);
    const auto candidate = first_of("block_registers", problem);
    ASSERT_TRUE(candidate) << to_text(problem);
    largest = std::max(largest, largest_error(*candidate, problem, mean,
                                              {{"constexpr bool fine = sizeof(y_type) == 4;",
                                                "constexpr bool fine = false;"}}));
  }
  std::printf("coarse: %.2f half units\n", largest);
  EXPECT_GT(largest, half_units_max);
}

}  // namespace
}  // namespace normd
