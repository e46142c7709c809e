// The bounds of grade exact, held by every exact template and by the fallback on the rows that are
// hard for float: a mean far from the spread, first elements far from the mean, long rows, values
// so large that squares or the plain sum overflow, values so small that they or their squares
// vanish. What is decided about such rows (docs/kernels.md) holds for all alike. Built for the host
// device and for the first GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/kernels/template_names.h"
#include "tests/tuner/device/guarded_run.h"
#include "tests/tuner/worker/on_device.h"
#include "tuner/compiler/compiler.h"
#include "tuner/compiler/prebuilt.h"

namespace normd {
namespace {

struct Kind {
  const char* name;
  double mean;
  double spread;
  double far = 0;  // how far the first elements lie from the rest
  int far_count = 3;
};

// Near the end of float's range; the spread keeps every value of the data below inside it.
constexpr double far_end = 8.5e37;

constexpr Kind spread_kinds[] = {{"normal", 0, 1},
                                 {"mean/sd 1e3", 1e3, 1},
                                 {"mean/sd 1e5", 1e5, 1},
                                 {"1000 with spread 0.1", 1000, 0.1},
                                 {"100 with spread 0.01", 100, 0.01}};
// Where a value near the middle of the row is looked for, there is none. In a warp's several rows,
// some need a second pass and some do not.
constexpr Kind far_kinds[] = {
    {"first three 1000 away", 0, 1, 1000},
    {"normal", 0, 1},
    {"first one 1000 away", 0, 1, 1000, 1},
    {"first three 50 below 10", 10, 1, -50},
    {"first three 1e18 away, where squares about them overflow", 0, 1, 1e18},
    {"mean/sd 100", 100, 1}};
constexpr Kind large_kinds[] = {{"scale 1e18", 0, 1e18},
                                {"scale 1e30", 0, 1e30},
                                {"scale 1e30 beside 1e32", 1e32, 1e30},
                                {"8.5e37, where the sum overflows", far_end, far_end / 4},
                                {"scale 8.5e37", 0, far_end},
                                {"normal", 0, 1}};
constexpr Kind small_kinds[] = {{"scale 1e-18", 0, 1e-18},
                                {"scale 1e-30", 0, 1e-30},
                                {"subnormal, scale 1e-40", 0, 1e-40},
                                {"subnormal beside its mean", 1e-39, 1e-40},
                                {"normal", 0, 1}};

// Every value lies within 3.5 spreads of the mean: a sum of four uniforms.
std::vector<double> rows_of(std::span<const Kind> kinds, const Problem& problem, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x;
  x.reserve(static_cast<std::size_t>(problem.rows * problem.columns));
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const Kind& kind = kinds[static_cast<std::size_t>(row) % kinds.size()];
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      const double sum = uniform(random) + uniform(random) + uniform(random) + uniform(random);
      const double far = i < kind.far_count ? kind.far : 0;
      x.push_back(kind.mean + far + kind.spread * sum * std::sqrt(0.75));
    }
  }
  return x;
}

struct Width {
  std::int64_t columns;
  bool shifted = false;  // tensors that begin on an element and no better
};

// Under a sanitizer the numbers are the same and every row takes ten times as long.
#if defined(__SANITIZE_ADDRESS__)
constexpr Width widths[] = {{3}, {33}, {1001}, {4096}, {65536}, {1001, true}};
#else
constexpr Width widths[] = {{1},     {3},     {5},      {7},          {8},         {33},
                            {64},    {1000},  {1001},   {4096},       {8191},      {12288},
                            {16384}, {65536}, {262144}, {1001, true}, {2048, true}};
#endif

Problem problem_of(const Width& width, DType dtype) {
  return {.rows = 1,
          .columns = width.columns,
          .x = dtype,
          .y = dtype,
          .gamma = DType::fp32,
          .beta = DType::fp32,
          .stats = Stats::mean_rstd,
          .align_bytes = width.shifted ? static_cast<int>(size_bytes(dtype)) : 16};
}

// How a template divides its work: a candidate for each of their values is tried.
const std::set<std::string> dividing_axes = {"cluster",        "groups",         "lanes_per_row",
                                             "rows_per_block", "rows_per_group", "rows_per_thread",
                                             "unroll"};

struct Chosen {
  Problem problem;
  Candidate candidate;
};

// The candidate that comes first in the order, of each width; and any that brings a new value.
std::vector<Chosen> chosen_candidates(const Template& entry, DType dtype) {
  std::vector<Chosen> chosen;
  std::set<std::pair<std::string, int>> seen;
  std::mt19937 random(7);
  for (const Width& width : widths) {
    const Problem problem = problem_of(width, dtype);
    auto candidates = enumerate(entry, problem, test_device_spec());
    std::shuffle(candidates.begin(), candidates.end(), random);
    bool first = true;
    for (Candidate& candidate : candidates) {
      bool wanted = std::exchange(first, false);
      for (const auto& value : candidate.values) {
        if (dividing_axes.contains(value.first)) wanted |= seen.insert(value).second;
      }
      if (wanted) chosen.push_back({problem, std::move(candidate)});
    }
  }
  return chosen;
}

class ExactBounds : public OnDevice, public testing::WithParamInterface<std::string> {
 protected:
  void expect_bounds(Kernel& kernel, Problem problem, const std::string& what) {
    const auto expect = [&](std::span<const Kind> kinds, float epsilon) {
      problem.rows = static_cast<std::int64_t>(kinds.size()) + 2;
      NormInputs inputs = inputs_of(problem, rows_of(kinds, problem, 3), gamma_of(problem),
                                    beta_of(problem), problem.columns, problem.columns);
      inputs.epsilon = epsilon;
      const auto outputs = run_guarded(*device_, kernel, inputs, Place::apart);
      ASSERT_TRUE(outputs) << what << ": " << outputs.error().message;
      EXPECT_EQ(outputs->damage, "") << what;
      const Comparison found =
          compare(problem, inputs.tensors(), outputs->tensors(), {}, 0, problem.rows);
      EXPECT_EQ(found.failure, "")
          << what << ", epsilon " << epsilon << ", first row " << kinds[0].name;
      worst_ = std::max(worst_, found.error_over_bound);
    };
    if (problem.x == DType::fp32) expect(spread_kinds, 1e-5f);
    for (const float epsilon : {1e-5f, 0.0f}) expect(far_kinds, epsilon);
    expect(large_kinds, 1e-5f);
    for (const float epsilon : {1e-5f, 1e-12f, 0.0f}) expect(small_kinds, epsilon);
  }

  static std::vector<double> gamma_of(const Problem& problem) {
    std::vector<double> gamma;
    for (std::int64_t i = 0; i < problem.columns; ++i)
      gamma.push_back(1 + 0.1 * static_cast<double>(i % 7));
    return gamma;
  }
  static std::vector<double> beta_of(const Problem& problem) {
    std::vector<double> beta;
    for (std::int64_t i = 0; i < problem.columns; ++i)
      beta.push_back(0.1 * static_cast<double>(i % 5) - 0.2);
    return beta;
  }

  double worst_ = 0;
};

TEST_P(ExactBounds, hold_on_every_hard_row) {
  const Template& entry = *find_template(GetParam());
  int tried = 0;
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const std::vector<Chosen> chosen = chosen_candidates(entry, dtype);
    std::vector<std::future<Result<Binary>>> binaries;  // compiled ahead, on all cores
    for (const Chosen& one : chosen) {
      binaries.push_back(std::async(std::launch::async, [&one] {
        return compile(render(one.candidate, one.problem, test_device_spec()));
      }));
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto& [problem, candidate] = chosen[i];
      const std::string what = to_text(candidate) + " for " + to_text(problem);
      const auto binary = binaries[i].get();
      ASSERT_TRUE(binary) << what << ": " << binary.error().message;
      auto kernel = device_->load(*binary, launch_of(candidate, problem, test_device_spec()));
      ASSERT_TRUE(kernel) << what << ": " << kernel.error().message;
      expect_bounds(**kernel, problem, what);
      ++tried;
    }
  }
  std::printf("%s: %d candidates, largest error over bound %.3f\n", GetParam().c_str(), tried,
              worst_);
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(catalog, ExactBounds, testing::ValuesIn(exact_template_names()),
                         [](const auto& name) { return name.param; });

class FallbackBounds : public ExactBounds {};

TEST_F(FallbackBounds, hold_on_every_hard_row) {
  const auto binary = prebuilt_binary(Prebuilt::any_columns, device_->spec());
  ASSERT_TRUE(binary) << binary.error().message;
  auto kernel = device_->load(*binary, any_columns_launch());
  ASSERT_TRUE(kernel) << kernel.error().message;
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const Width& width : widths) {
      const Problem problem = problem_of(width, dtype);
      expect_bounds(**kernel, problem, "any_columns for " + to_text(problem));
    }
  }
}

}  // namespace
}  // namespace normd
