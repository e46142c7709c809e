#include "tests/tuner/device/candidate_sample.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

namespace normd {
namespace {

// One column, fewer than a vector, tails, odd widths, powers of two, wider than registers hold.
constexpr std::int64_t widths[] = {1,    2,    3,    7,     8,     31,   33,   64,
                                   100,  129,  384,  513,   1000,  1024, 1536, 2047,
                                   3072, 4099, 8192, 16390, 20000, 24576};

// Beyond this many per problem a random part stands for all.
constexpr std::size_t per_problem_max = 64;

template <typename T>
T one_of(std::initializer_list<T> choices, std::mt19937& random) {
  return *(choices.begin() + random() % choices.size());
}

Problem random_problem(std::int64_t columns, std::mt19937& random) {
  using Optional = std::optional<DType>;
  const auto any = [&] { return one_of({DType::fp32, DType::fp16, DType::bf16}, random); };
  const auto any_or_none = [&] {
    return one_of({Optional{}, Optional{DType::fp32}, Optional{DType::fp16}, Optional{DType::bf16}},
                  random);
  };
  Problem problem{.columns = columns, .x = any(), .gamma = any_or_none(), .beta = any_or_none()};
  problem.y = random() % 4 != 0 ? problem.x : any();  // in place needs the same
  problem.stats =
      one_of({Stats::none, Stats::mean, Stats::rstd, Stats::mean_rstd, Stats::mean_rstd}, random);
  problem.rows_layout = random() % 3 == 0 ? RowsLayout::strided : RowsLayout::contiguous;
  const int element = static_cast<int>(size_bytes(problem.x));
  problem.align_bytes = one_of({16, 16, 8, 4, element}, random);
  return problem;
}

// What a test of this candidate covers, one word each.
std::vector<std::string> covered_by(const SampledCandidate& sampled) {
  const Problem& problem = sampled.problem;
  const auto name = [](const std::optional<DType>& dtype) {
    return dtype ? std::string(dtype_name(*dtype)) : std::string("none");
  };
  std::vector<std::string> words{"columns=" + std::to_string(problem.columns),
                                 "x=" + name(problem.x),
                                 "y=" + name(problem.y),
                                 "gamma=" + name(problem.gamma),
                                 "beta=" + name(problem.beta),
                                 "stats=" + std::string(stats_name(problem.stats)),
                                 "layout=" + std::string(rows_layout_name(problem.rows_layout)),
                                 "align_bytes=" + std::to_string(problem.align_bytes),
                                 std::string("in_place=") + (problem.x == problem.y ? "1" : "0")};
  for (const auto& [axis, value] : sampled.candidate.values) {
    words.push_back(axis + "=" + std::to_string(value));
  }
  return words;
}

}  // namespace

std::vector<SampledCandidate> all_candidates(const Template& entry, const DeviceSpec& spec,
                                             std::uint32_t seed, int problems) {
  std::mt19937 random(seed);
  std::vector<SampledCandidate> all;
  for (int i = 0; i < problems; ++i) {
    const Problem problem =
        random_problem(widths[static_cast<std::size_t>(i) % std::size(widths)], random);
    std::vector<Candidate> candidates = enumerate(entry, problem, spec);
    std::shuffle(candidates.begin(), candidates.end(), random);
    if (candidates.size() > per_problem_max) candidates.resize(per_problem_max);
    for (Candidate& candidate : candidates) all.push_back({problem, std::move(candidate)});
  }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

std::vector<SampledCandidate> covering_sample(const std::vector<SampledCandidate>& all) {
  std::vector<std::vector<std::string>> words;
  std::set<std::string> missing;
  for (const SampledCandidate& sampled : all) {
    words.push_back(covered_by(sampled));
    missing.insert(words.back().begin(), words.back().end());
  }
  std::vector<SampledCandidate> sample;
  while (!missing.empty()) {
    const auto gain = [&](std::size_t i) {
      return std::count_if(words[i].begin(), words[i].end(),
                           [&](const std::string& word) { return missing.contains(word); });
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (gain(i) > gain(best)) best = i;
    }
    sample.push_back(all[best]);
    for (const std::string& word : words[best]) missing.erase(word);
  }
  return sample;
}

}  // namespace normd
