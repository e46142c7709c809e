#include "bench/long_race.h"

#include <chrono>
#include <limits>
#include <map>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tuner/compile_pool.h"
#include "tuner/race.h"
#include "tuner/trial_worker.h"

namespace normd {
namespace {

RaceRules rules_of(int rounds, const DeviceSpec& spec) {
  RaceRules rules{
      .rounds_max = rounds, .narrow = 0, .hopeless = std::numeric_limits<double>::infinity()};
  if (spec.kind == DeviceKind::host) rules.noisy = 0;  // its times mean nothing
  return rules;
}

}  // namespace

Result<std::vector<Racer>> racers_of(const StudyDevice& device, Store& store,
                                     const Problem& problem, const Tuning& all,
                                     const std::set<std::string>& texts) {
  std::map<std::string, std::string> digests;
  for (const Trial& trial : all.trials) digests[to_text(trial.candidate)] = trial.binary_digest;
  CompilePool pool({.words = device.worker, .first_only = {}}, default_compile_workers());
  CompilePool::Batch batch = pool.begin();
  std::vector<Racer> racers;
  for (const std::string& text : texts) {
    auto candidate = parse_candidate(text);
    if (!candidate) return fail(std::move(candidate.error()));
    auto stored = store.find_binary(digests[text]);
    if (!stored) return fail(std::move(stored.error()));
    if (!*stored) {
      batch.submit(static_cast<int>(racers.size()), render(*candidate, problem, device.spec));
    }
    racers.push_back({std::move(*candidate), std::move(*stored).value_or(Binary{})});
  }
  while (batch.outstanding() > 0) {
    auto compiled = batch.next(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    if (!compiled) continue;
    if (!compiled->binary) return fail(std::move(compiled->binary.error()));
    racers[static_cast<std::size_t>(compiled->number)].binary = std::move(*compiled->binary);
  }
  return racers;
}

Result<LongRace> long_race(const StudyDevice& device, const Key& key,
                           const std::vector<Racer>& racers, int rounds) {
  LongRace result{
      .edges = measured_edges(key.problem, device.spec, key.bucket), .times = {}, .copy_ns = {}};
  const Problem problem = problem_at(key, result.edges.back().rows);
  TrialWorker worker({.words = device.worker, .first_only = {}}, device.name,
                     device.turn_directory);
  if (auto prepared = worker.prepare(problem, result.edges, Grade::exact); !prepared) {
    return fail(std::move(prepared.error()));
  }
  std::vector<int> numbers;
  for (const Racer& racer : racers) {
    const int number = static_cast<int>(numbers.size());
    auto tried =
        worker.try_candidate(number, {.candidate = racer.candidate,
                                      .binary = racer.binary,
                                      .launch = launch_of(racer.candidate, problem, device.spec)});
    if (!tried) return fail(std::move(tried.error()));
    if (tried->verdict.kind != VerdictKind::measured) {
      return fail(ErrorCode::internal, "a winner does not pass the gate: " +
                                           to_text(racer.candidate) + ": " + tried->verdict.detail);
    }
    numbers.push_back(number);
  }
  Race race(rules_of(rounds, device.spec), result.edges.size(),
            [&](const std::vector<int>& asked, std::size_t edge) -> Result<Race::Sampled> {
              auto samples = worker.sample(asked, edge);
              if (!samples) return fail(std::move(samples.error()));
              return Race::Sampled{.ns = std::move(samples->ns),
                                   .to_blame = {},
                                   .condition = std::move(samples->condition)};
            });
  if (auto ran = race.run(numbers, numbers.front(), [] { return false; }); !ran) {
    return fail(std::move(ran.error()));
  }
  for (const int number : numbers) result.times.push_back(race.intervals(number));
  for (const Interval& copy : race.intervals(control_copy)) result.copy_ns.push_back(copy.median);
  return result;
}

}  // namespace normd
