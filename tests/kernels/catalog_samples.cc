#include "tests/kernels/catalog_samples.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace normd {
namespace {

template <typename T>
const T& one_of(std::mt19937& random, const std::vector<T>& choices) {
  return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
}

DType drawn_dtype(std::mt19937& random) {
  return one_of<DType>(random, {DType::fp32, DType::fp16, DType::bf16});
}

std::optional<DType> drawn_optional_dtype(std::mt19937& random) {
  if (one_of<int>(random, {0, 1, 2, 3}) == 0) return std::nullopt;
  return drawn_dtype(random);
}

}  // namespace

std::string to_text(const Sample& sample) {
  return to_text(sample.candidate) + " for " + to_text(sample.problem) + " on " +
         sample.spec.architecture();
}

Problem drawn_problem(std::mt19937& random) {
  Problem problem{
      .rows = one_of<std::int64_t>(random, {1, 7, 4096}),
      .columns = one_of<std::int64_t>(random, {1, 3, 8, 64, 100, 384, 768, 1000, 1024, 1601, 3072,
                                               4096, 8192, 12288, 16384, 30000, 65536, 262144}),
      .x = drawn_dtype(random),
      .y = drawn_dtype(random),
      .gamma = drawn_optional_dtype(random),
      .beta = drawn_optional_dtype(random),
      .stats = one_of<Stats>(random, {Stats::none, Stats::mean, Stats::rstd, Stats::mean_rstd}),
      .rows_layout = one_of<RowsLayout>(random, {RowsLayout::contiguous, RowsLayout::strided})};
  // Mostly well aligned, beyond any access of older chips; at times no better than an element of x.
  const int element = static_cast<int>(size_bytes(problem.x));
  problem.align_bytes = one_of<int>(random, {32, 16, 16, 8, element});
  return problem;
}

std::vector<Sample> drawn_pool(std::mt19937& random, const std::vector<DeviceSpec>& specs,
                               int problems) {
  std::vector<Sample> pool;
  for (const DeviceSpec& spec : specs) {
    for (int i = 0; i < problems; ++i) {
      const Problem problem = drawn_problem(random);
      for (const Template& entry : catalog()) {
        for (Candidate& candidate : enumerate(entry, problem, spec)) {
          pool.push_back({.candidate = std::move(candidate), .problem = problem, .spec = spec});
        }
      }
    }
  }
  return pool;
}

std::vector<std::string> features(const Sample& sample) {
  const std::string prefix = sample.candidate.template_name + " ";
  std::vector<std::string> all;
  for (const auto& [name, value] : sample.candidate.values) {
    all.push_back(prefix + name + "=" + std::to_string(value));
  }
  const auto dtype = [](const std::optional<DType>& type) {
    return type ? std::string(dtype_name(*type)) : std::string("none");
  };
  all.push_back(prefix + "x=" + dtype(sample.problem.x));
  all.push_back(prefix + "y=" + dtype(sample.problem.y));
  all.push_back(prefix + "gamma=" + dtype(sample.problem.gamma));
  all.push_back(prefix + "beta=" + dtype(sample.problem.beta));
  all.push_back(prefix + "stats=" + std::string(stats_name(sample.problem.stats)));
  all.push_back(prefix + "layout=" + std::string(rows_layout_name(sample.problem.rows_layout)));
  all.push_back(prefix + "target=" + sample.spec.architecture());
  return all;
}

std::vector<Sample> covering(std::mt19937& random, std::vector<Sample> pool) {
  std::shuffle(pool.begin(), pool.end(), random);
  std::set<std::string> seen;
  std::vector<Sample> chosen;
  for (Sample& sample : pool) {
    std::size_t fresh = 0;
    for (std::string& feature : features(sample)) fresh += seen.insert(std::move(feature)).second;
    if (fresh > 0) chosen.push_back(std::move(sample));
  }
  return chosen;
}

unsigned announced_seed() {
  const char* given = std::getenv("NORMD_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                         : std::random_device{}();
  std::printf("seed %u (set NORMD_TEST_SEED=%u to repeat)\n", seed, seed);
  return seed;
}

bool long_run() {
  const char* given = std::getenv("NORMD_TEST_LONG");
  return given != nullptr && std::string(given) == "1";
}

}  // namespace normd
