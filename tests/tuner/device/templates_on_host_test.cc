// Every template's arithmetic on the host device, under whatever sanitizers this program was built
// with. The default run takes a seeded sample that holds each axis value, dtype, width and option
// at least once per template; NORMD_TEST_LONG=1 takes thousands, NORMD_TEST_SEED another seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/kernels/template_names.h"
#include "tests/tuner/device/candidate_sample.h"
#include "tests/tuner/device/host_bench.h"
#include "tuner/compiler/host_compiler.h"

namespace normd {
namespace {

bool is_long_run() {
  const char* text = std::getenv("NORMD_TEST_LONG");
  return text != nullptr && std::string_view(text) == "1";
}

std::uint32_t seed_of_run() {
  const char* text = std::getenv("NORMD_TEST_SEED");
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 20260301;
}

class Templates : public testing::TestWithParam<std::string> {
 protected:
  Templates() { std::printf("NORMD_TEST_SEED=%u\n", seed_of_run()); }

  const Template& entry() const { return *find_template(GetParam()); }
  const DeviceSpec& spec() { return bench_.device().spec(); }

  HostBench::Kernels build(const Candidate& candidate, const Problem& problem) {
    const auto binary = compile_with_host_compiler(render(candidate, problem, spec()));
    if (!binary) ADD_FAILURE() << to_text(candidate) << ": " << binary.error().message;
    if (!binary) return {};
    return bench_.load(*binary, launch_of(candidate, problem, spec()));
  }

  // One candidate for a problem, drawn from all that fit; none if the template does not fit it.
  std::vector<Candidate> some(const Problem& problem, std::size_t count) {
    std::vector<Candidate> candidates = enumerate(entry(), problem, spec());
    std::shuffle(candidates.begin(), candidates.end(), random_);
    if (candidates.size() > count) candidates.resize(count);
    return candidates;
  }

  Tolerance tolerance(const Candidate& candidate, const Problem& problem) {
    return {.grade = entry().grade, .sequential_adds = entry().sequential_adds(candidate, problem)};
  }

  HostBench bench_{seed_of_run()};
  std::mt19937 random_{seed_of_run()};
};

// One row; a row of each kind; whole blocks and a partial one.
std::vector<std::int64_t> row_counts(const Launch& launch) {
  return {1, 11, std::max<std::int64_t>(13, 2 * launch.rows_per_block + 1)};
}

TEST_P(Templates, a_sample_of_candidates_matches_the_reference) {
  const auto all = all_candidates(entry(), spec(), seed_of_run(), 22 * 12);
  ASSERT_FALSE(all.empty());
  for (const auto& [sampled_problem, candidate] : is_long_run() ? all : covering_sample(all)) {
    const HostBench::Kernels kernels = build(candidate, sampled_problem);
    if (!kernels[0]) continue;
    for (const std::int64_t rows : row_counts(kernels[0]->launch())) {
      Problem problem = sampled_problem;
      problem.rows = rows;
      const NormInputs inputs =
          make_inputs(problem, entry().grade, static_cast<std::uint32_t>(random_()));
      bench_.run_and_compare(kernels, inputs, tolerance(candidate, problem),
                             to_text(candidate) + " for " + to_text(problem));
      if (HasFailure()) return;  // one is enough to look at; the rest would bury it
    }
  }
}

TEST_P(Templates, known_answers_are_given) {
  auto turn = static_cast<std::size_t>(&entry() - catalog().data());
  for (const KnownAnswer& answer : known_answers()) {
    if (entry().grade == Grade::taught && !answer.taught_error) continue;
    if (turn++ % 3 != 0 && !is_long_run()) continue;  // three templates share them
    for (const Candidate& candidate : some(answer.problem, is_long_run() ? 100 : 1)) {
      const HostBench::Kernels kernels = build(candidate, answer.problem);
      if (!kernels[0]) continue;
      NormInputs inputs = inputs_of(answer.problem, answer.x, answer.gamma, answer.beta,
                                    answer.problem.columns, answer.problem.columns);
      inputs.epsilon = answer.epsilon;
      const std::string what = answer.name + " by " + to_text(candidate);
      const NormOutputs outputs = bench_.run(kernels, inputs, Place::in_place, what);
      expect_known(answer, inputs, outputs, tolerance(candidate, answer.problem), what);
    }
  }
}

// x = (r + 1) * ((j mod 5) - 2), clean and with three rows spoilt.
std::vector<double> stepped_rows(bool spoilt) {
  std::vector<double> x;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 512; ++column) x.push_back((row + 1) * (column % 5 - 2));
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (spoilt) x[5 * 512 + 511] = std::numeric_limits<double>::quiet_NaN();
  if (spoilt) x[9 * 512] = infinity;
  if (spoilt) x[12 * 512 + 3] = infinity;
  if (spoilt) x[12 * 512 + 400] = -infinity;
  return x;
}

TEST_P(Templates, a_spoilt_row_stays_by_itself) {
  const Problem problem{.rows = 64, .columns = 512, .stats = Stats::mean_rstd};
  const NormInputs clean = inputs_of(problem, stepped_rows(false), {}, {}, 512, 512);
  const NormInputs spoilt = inputs_of(problem, stepped_rows(true), {}, {}, 512, 512);
  for (const Candidate& candidate : some(problem, is_long_run() ? 1000 : 2)) {
    const HostBench::Kernels kernels = build(candidate, problem);
    if (!kernels[0]) continue;
    const std::string what = to_text(candidate);
    const NormOutputs expected = bench_.run(kernels, clean, Place::apart, what);
    const NormOutputs got = bench_.run(kernels, spoilt, Place::apart, what + " spoilt");
    for (std::int64_t row = 0; row < problem.rows; ++row) {
      const auto i = static_cast<std::size_t>(row);
      if (row != 5 && row != 9 && row != 12) {
        EXPECT_EQ(got.row_bytes(problem, row), expected.row_bytes(problem, row)) << what << row;
        EXPECT_EQ(got.mean[i], expected.mean[i]) << what;
        EXPECT_EQ(got.rstd[i], expected.rstd[i]) << what;
        continue;
      }
      for (std::size_t column = 0; column < 512; ++column) {
        ASSERT_TRUE(std::isnan(load_element(DType::fp32, got.y.data(), i * 512 + column)))
            << what << " row " << row << " column " << column;
      }
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto mean = static_cast<double>(got.mean[9]);
    EXPECT_TRUE(mean == infinity || !mean_counts(entry().grade, mean, infinity)) << what << mean;
  }
}

TEST_P(Templates, each_of_x_and_y_has_its_own_stride) {
  const Problem problem{.rows = 5, .columns = 8, .rows_layout = RowsLayout::strided};
  std::vector<double> x;
  for (int i = 0; i < 40; ++i) x.push_back(i % 8);
  for (const Candidate& candidate : some(problem, 1)) {
    const HostBench::Kernels kernels = build(candidate, problem);
    if (!kernels[0]) continue;
    for (const auto& [x_stride, y_stride] : {std::pair{16, 8}, std::pair{8, 16}}) {
      const NormInputs inputs = inputs_of(problem, x, {}, {}, x_stride, y_stride);
      const NormOutputs outputs = bench_.run(kernels, inputs, Place::apart, to_text(candidate));
      const double known[] = {-1.5275238, -1.0910885, -0.6546531, -0.2182177};
      for (std::size_t row = 0; row < 5; ++row) {
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t begin = row * static_cast<std::size_t>(y_stride);
          EXPECT_NEAR(load_element(DType::fp32, outputs.y.data(), begin + i), known[i], 4e-6);
          EXPECT_NEAR(load_element(DType::fp32, outputs.y.data(), begin + 7 - i), -known[i], 4e-6);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(catalog, Templates, testing::ValuesIn(template_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace normd
