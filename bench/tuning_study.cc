// What a tuning is worth. `lives` tunes each shape of a list once in each of several lives of a
// tuner, every life with an empty store; `truth` then measures what they found, and the best of all
// candidates, for long; `buckets` compares a bucket's winner with the winner of one row count at
// random shapes. Lines of fields parted by tabs, which bench/tuning_studies.py reads:
//   tuning_study lives --device 0 --shapes examples/shapes/study.txt > lives.txt
//   tuning_study truth --device 0 --lives lives.txt > truth.txt
//   tuning_study buckets --device 0 --points 60 > buckets.txt
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "bench/long_race.h"
#include "bench/scratch_tuner.h"
#include "kernels/catalog.h"
#include "kernels/limits.h"
#include "kernels/text.h"

namespace normd {
namespace {

constexpr int race_rounds = 40;
constexpr std::size_t best_of_all = 8;  // of every candidate, that race against the winners

struct Studying {
  std::string device = "0";
  std::string shapes;
  std::string lives_file;
  int lives = 10;
  std::int64_t budget_ms = limits::tuning_budget_ms;
  std::int64_t everything_budget_ms = 8000;
  int points = 60;
  unsigned seed = 1;
};

int complain(const Error& error) {
  std::fprintf(stderr, "tuning_study: %s\n", error.message.c_str());
  return 1;
}

Key key_of(const StudyDevice& device, const Problem& problem, BucketMode mode) {
  const Fingerprint fingerprint =
      make_fingerprint(device.spec, device.identity.mig, device.identity.power_limit_w);
  return make_key(problem, device.spec, fingerprint, mode);
}

std::string joined(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) {
    text += (text.empty() ? "" : ";") + to_text(candidate);
  }
  return text;
}

// When a tuning had its first usable answer, and which best it knew when: `MS:NS` by commas.
struct Course {
  std::int64_t first_ms = -1;
  std::string best;
  double best_ns = 0;

  void see(const TuneProgress& now) {
    if (first_ms < 0 && !now.default_binary_digest.empty()) first_ms = now.elapsed_ms;
    if (now.best_ns <= 0 || now.best_ns == best_ns) return;
    best_ns = now.best_ns;
    best += (best.empty() ? "" : ",") + std::to_string(now.elapsed_ms) + ":" +
            std::to_string(std::llround(now.best_ns));
  }
};

int lives(const Studying& studying) {
  const auto device = open_study_device(studying.device);
  if (!device) return complain(device.error());
  const auto shapes = listed_shapes(studying.shapes, device->spec);
  if (!shapes) return complain(shapes.error());
  int failed = 0;
  for (int life = 0; life < studying.lives; ++life) {
    auto scratch = ScratchTuner::create(*device, "tuning_study");
    if (!scratch) return complain(scratch.error());
    for (const WarmShape& shape : *shapes) {
      const Problem& problem = shape.problem;
      Course course;
      const auto tuning = scratch->tuner().tune(
          {.problem = problem, .mode = shape.mode, .budget_ms = studying.budget_ms},
          [&](const TuneProgress& now) { course.see(now); }, {});
      if (!tuning) {
        failed += complain(tuning.error());
        continue;
      }
      const Winner& winner = *tuning->winner;
      std::printf("life\t%d\t%s\t%s\t%s\t%s\t%s\t%lld\t%lld\t%lld\t%d\t%d\t%s\n", life,
                  to_text(problem).c_str(), std::string(bucket_mode_name(shape.mode)).c_str(),
                  to_text(winner.candidate).c_str(), to_text(winner.default_candidate).c_str(),
                  joined(winner.ties).c_str(), static_cast<long long>(studying.budget_ms),
                  static_cast<long long>(tuning->elapsed_ms),
                  static_cast<long long>(course.first_ms), tuning->rounds_kept,
                  tuning->rounds_discarded, course.best.c_str());
      std::fflush(stdout);
    }
  }
  return failed > 0 ? 1 : 0;
}

struct Found {
  Problem problem;
  BucketMode mode = BucketMode::bucketed;
  std::set<std::string> candidates;  // winners and defaults
};

void print_race(const char* name, const std::string& shape, const std::vector<Racer>& racers,
                const LongRace& race) {
  for (std::size_t edge = 0; edge < race.edges.size(); ++edge) {
    const MeasuredEdge& at = race.edges[edge];
    const std::string where = std::to_string(at.rows) + ":" +
                              std::string(cache_state_name(at.cache)) +
                              (at.decides ? ":decides" : ":ranks");
    for (std::size_t i = 0; i < racers.size(); ++i) {
      const Interval& time = race.times[i][edge];
      std::printf("%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.1f\n", name, shape.c_str(), where.c_str(),
                  to_text(racers[i].candidate).c_str(), time.median, time.low, time.high,
                  race.copy_ns[edge]);
    }
  }
  std::fflush(stdout);
}

// By the problem's text and mode.
Result<std::map<std::string, Found>> found_in(const std::string& path) {
  const auto text = contents_of(path);
  if (!text) return fail(text.error());
  std::map<std::string, Found> found;
  for (const std::string_view line : split(*text, '\n')) {
    const auto fields = split(line, '\t');
    if (fields.size() != 13 || fields[0] != "life") continue;
    const auto problem = parse_problem(fields[2]);
    const auto mode = parse_bucket_mode(fields[3]);
    if (!problem || !mode) {
      return fail(ErrorCode::invalid_argument,
                  path + " has a line that is none: " + std::string(line.substr(0, 80)));
    }
    Found& of_shape = found[std::string(fields[2]) + " " + std::string(fields[3])];
    of_shape.problem = *problem;
    of_shape.mode = *mode;
    of_shape.candidates.emplace(fields[4]);
    of_shape.candidates.emplace(fields[5]);
  }
  return found;
}

Result<void> truth_of(const StudyDevice& device, const Studying& studying, const std::string& shape,
                      Found found) {
  auto scratch = ScratchTuner::create(device, "tuning_study");
  if (!scratch) return fail(std::move(scratch.error()));
  const auto all = scratch->tuner().tune({.problem = found.problem,
                                          .mode = found.mode,
                                          .budget_ms = studying.everything_budget_ms,
                                          .everything = true},
                                         [](const TuneProgress&) {}, {});
  if (!all) return fail(all.error());
  for (std::size_t i = 0; i < std::min(best_of_all, all->trials.size()); ++i) {
    if (all->trials[i].verdict.kind != VerdictKind::measured) break;
    found.candidates.insert(to_text(all->trials[i].candidate));
  }
  auto racers = racers_of(device, scratch->store(), found.problem, *all, found.candidates);
  if (!racers) return fail(std::move(racers.error()));
  const auto race =
      long_race(device, key_of(device, found.problem, found.mode), *racers, race_rounds);
  if (!race) return fail(race.error());
  print_race("truth", shape, *racers, *race);
  return {};
}

int truth(const Studying& studying) {
  const auto found = found_in(studying.lives_file);
  if (!found) return complain(found.error());
  const auto device = open_study_device(studying.device);
  if (!device) return complain(device.error());
  int failed = 0;
  for (const auto& [shape, of_shape] : *found) {
    if (auto done = truth_of(*device, studying, shape, of_shape); !done) {
      failed += complain(done.error());
    }
  }
  return failed > 0 ? 1 : 0;
}

// Widths of real models; rows between one and what fills 128 MiB, evenly by their logarithm.
Problem drawn_shape(std::mt19937& random) {
  constexpr std::int64_t widths[] = {128,  384,  768,  1000, 1024, 1280,
                                     1600, 2048, 3072, 4096, 5120, 8192};
  constexpr DType dtypes[] = {DType::bf16, DType::fp16, DType::fp32};
  const std::int64_t columns = widths[random() % std::size(widths)];
  const DType dtype = dtypes[random() % std::size(dtypes)];
  const double rows_max =
      static_cast<double>(128 << 20) / static_cast<double>(columns * size_bytes(dtype));
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  return {.rows = std::llround(std::pow(rows_max, share)),
          .columns = columns,
          .x = dtype,
          .y = dtype,
          .gamma = dtype,
          .beta = dtype};
}

Result<void> compare_bucket(const StudyDevice& device, const Studying& studying, Problem problem) {
  problem.align_bytes = device.spec.vector_bytes_max;
  auto scratch = ScratchTuner::create(device, "tuning_study");
  if (!scratch) return fail(std::move(scratch.error()));
  std::vector<Racer> racers;
  for (const BucketMode mode : {BucketMode::bucketed, BucketMode::single_row_count}) {
    const auto tuning =
        scratch->tuner().tune({.problem = problem, .mode = mode, .budget_ms = studying.budget_ms},
                              [](const TuneProgress&) {}, {});
    if (!tuning) return fail(tuning.error());
    auto binary = scratch->store().find_binary(tuning->winner->binary_digest);
    if (!binary) return fail(std::move(binary.error()));
    if (!*binary) return fail(ErrorCode::internal, "a winner without its binary");
    racers.push_back({tuning->winner->candidate, std::move(**binary)});
  }
  const auto race =
      long_race(device, key_of(device, problem, BucketMode::single_row_count), racers, race_rounds);
  if (!race) return fail(race.error());
  const Key bucket = key_of(device, problem, BucketMode::bucketed);
  print_race("bucket",
             to_text(problem) + " in " + std::to_string(bucket.bucket.rows_min) + ".." +
                 std::to_string(bucket.bucket.rows_max),
             racers, *race);
  return {};
}

int buckets(const Studying& studying) {
  const auto device = open_study_device(studying.device);
  if (!device) return complain(device.error());
  std::mt19937 random(studying.seed);
  int failed = 0;
  for (int point = 0; point < studying.points; ++point) {
    if (auto done = compare_bucket(*device, studying, drawn_shape(random)); !done) {
      failed += complain(done.error());
    }
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  CLI::App app{"What a tuning is worth: whether it repeats, what it misses, what buckets cost"};
  app.require_subcommand(1);
  app.fallthrough();
  normd::Studying studying;
  app.add_option("--device", studying.device, "UUID or index, or host");
  app.add_option("--budget-ms", studying.budget_ms, "of one tuning");
  auto* const living = app.add_subcommand("lives", "tune each shape in several lives of a tuner");
  living->add_option("--shapes", studying.shapes, "ROWSxCOLUMNS DTYPE, one a line")->required();
  living->add_option("--lives", studying.lives, "how many");
  auto* const knowing = app.add_subcommand("truth", "measure for long what lives found");
  knowing->add_option("--lives", studying.lives_file, "what lives printed")->required();
  knowing->add_option("--everything-budget-ms", studying.everything_budget_ms,
                      "of the tuning of all candidates");
  auto* const comparing = app.add_subcommand("buckets", "a bucket's winner beside the shape's own");
  comparing->add_option("--points", studying.points, "random shapes");
  comparing->add_option("--seed", studying.seed, "which");
  CLI11_PARSE(app, argc, argv);
  if (living->parsed()) return normd::lives(studying);
  return knowing->parsed() ? normd::truth(studying) : normd::buckets(studying);
}
