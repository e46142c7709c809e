// Every template through the gate on a real device: a seeded sample of candidates that holds every
// value of every axis, in every dtype, on odd and even widths; all of them with NORMD_TEST_LONG=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <random>
#include <set>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/kernels/template_names.h"
#include "tests/tuner/worker/test_device.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

// In random order, those that bring an axis value nobody brought before.
std::vector<Candidate> sample_of(std::vector<Candidate> candidates, std::mt19937& random) {
  std::shuffle(candidates.begin(), candidates.end(), random);
  if (std::getenv("NORMD_TEST_LONG") != nullptr) return candidates;
  std::vector<Candidate> sample;
  std::set<std::pair<std::string, int>> seen;
  for (const Candidate& candidate : candidates) {
    bool brings_one = false;
    for (const auto& value : candidate.values) brings_one |= seen.insert(value).second;
    if (brings_one) sample.push_back(candidate);
  }
  return sample;
}

Problem problem_of(DType dtype, std::int64_t columns, unsigned variant) {
  Problem problem{.rows = 300, .columns = columns, .x = dtype, .y = dtype};
  if (variant % 2 == 0) problem.gamma = variant % 4 == 0 ? dtype : DType::fp32;
  if (variant % 3 == 0) problem.beta = dtype;
  problem.stats = static_cast<Stats>(variant % 4);
  problem.rows_layout = variant % 5 == 0 ? RowsLayout::strided : RowsLayout::contiguous;
  problem.align_bytes = variant % 7 < 2 ? static_cast<int>(size_bytes(dtype)) : 16;
  return problem;
}

class Templates : public testing::TestWithParam<std::string> {};

TEST_P(Templates, every_sampled_candidate_passes_the_gate) {
  const DeviceSpec& spec = test_device_spec();
  const Template& entry = *find_template(GetParam());
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  auto bench = TrialBench::open(test_device, testing::TempDir());
  ASSERT_TRUE(bench) << bench.error().message;
  int tried = 0;
  double worst = 0;
  for (const DType dtype : all_dtypes) {
    for (const std::int64_t columns : {1, 7, 64, 384, 1001, 4096, 8191, 32768, 100003}) {
      const Problem problem = problem_of(dtype, columns, static_cast<unsigned>(random()));
      std::vector<Candidate> candidates = sample_of(enumerate(entry, problem, spec), random);
      if (candidates.empty()) continue;
      const auto prepared = (*bench)->prepare(problem, {{1}, {problem.rows}}, entry.grade);
      ASSERT_TRUE(prepared) << prepared.error().message;
      std::vector<std::future<Result<Binary>>> binaries;  // compiled ahead, on all cores
      for (const Candidate& candidate : candidates) {
        binaries.push_back(std::async(std::launch::async, [&problem, &spec, candidate] {
          return compile(render(candidate, problem, spec));
        }));
      }
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Candidate& candidate = candidates[i];
        const auto binary = binaries[i].get();
        ASSERT_TRUE(binary) << binary.error().message;
        const auto result = (*bench)->try_candidate(0, candidate, *binary,
                                                    launch_of(candidate, problem, spec), false);
        EXPECT_EQ(result.verdict.kind, VerdictKind::measured)
            << to_text(problem) << "; " << to_text(candidate) << ": "
            << reason_name(result.verdict.reason) << " " << result.verdict.detail;
        worst = std::max(worst, result.verdict.error_over_bound);
        (*bench)->drop(0);
        ++tried;
      }
    }
  }
  std::printf("%s: %d candidates, largest error over bound %.3f\n", GetParam().c_str(), tried,
              worst);
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(catalog, Templates, testing::ValuesIn(template_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace normd
