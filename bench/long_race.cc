#include "bench/long_race.h"

#include <limits>

#include "kernels/catalog.h"
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
