#include "tuner/remeasuring.h"

#include <algorithm>
#include <chrono>

#include "tuner/race.h"
#include "tuner/race_figures.h"
#include "tuner/tuning_budget.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds sampling_max{1};
constexpr int number_of_winner = 0;

Error stopped() {
  return {ErrorCode::unavailable, "stopped before the winner was measured again", {}};
}

// What takes long by itself is ended with its process when a stop comes.
Result<void> make_ready(TrialWorker& worker, const Winner& winner, const Binary& binary,
                        const std::vector<MeasuredEdge>& edges, const std::stop_token& stop) {
  const std::stop_callback end(stop, [&] { worker.stop(); });
  const Problem problem = problem_at(winner.key, edges.back().rows);
  if (auto prepared = worker.prepare(problem, edges, Grade::exact); !prepared) return prepared;
  if (stop.stop_requested()) return fail(stopped());
  auto tried =
      worker.try_candidate(number_of_winner, {winner.candidate, binary, winner.launch, true});
  if (!tried) return fail(std::move(tried.error()));
  if (tried->verdict.kind == VerdictKind::measured) return {};
  return fail(ErrorCode::internal, "the winner did not load: " + tried->verdict.detail);
}

std::chrono::milliseconds patience_of(const Winner& winner, const DeviceSpec& spec) {
  double copy_ns = 0;
  for (const Measurement& at : winner.measurements) copy_ns = std::max(copy_ns, at.copy_ns);
  return trial_patience(spec.kind, copy_ns);
}

Result<std::vector<Measurement>> sample(TrialWorker& worker, const DeviceSpec& spec,
                                        const Winner& winner,
                                        const std::vector<MeasuredEdge>& edges,
                                        const std::stop_token& stop) {
  RaceRules rules;
  if (spec.kind == DeviceKind::host) rules.noisy = 0;  // its times mean nothing
  const auto patience = patience_of(winner, spec);
  Race race(rules, edges.size(),
            [&](const std::vector<int>& numbers, std::size_t edge) -> Result<Race::Sampled> {
              if (stop.stop_requested()) return fail(stopped());
              auto samples = worker.sample(numbers, edge, patience);
              if (!samples) return fail(std::move(samples.error()));
              return Race::Sampled{.ns = std::move(samples->ns),
                                   .to_blame = {},
                                   .condition = std::move(samples->condition)};
            });
  const auto end = Clock::now() + sampling_max;
  // However slow the device is, fewer rounds would say nothing.
  auto ran = race.run({number_of_winner}, number_of_winner,
                      [&] { return Clock::now() >= end && race.rounds() >= rules.rounds_min; });
  if (!ran) return fail(std::move(ran.error()));
  return measurements_of(race, number_of_winner, edges);
}

}  // namespace

Result<std::vector<Measurement>> remeasure(TrialWorker& worker, const DeviceSpec& spec,
                                           const Winner& winner, const Binary& binary,
                                           const std::stop_token& stop) {
  const std::vector<MeasuredEdge> edges =
      measured_edges(winner.key.problem, spec, winner.key.bucket);
  if (stop.stop_requested()) return fail(stopped());
  auto ready = make_ready(worker, winner, binary, edges, stop);
  auto measured = ready ? sample(worker, spec, winner, edges, stop)
                        : Result<std::vector<Measurement>>(fail(std::move(ready.error())));
  worker.rest();
  if (!measured && stop.stop_requested()) return fail(stopped());
  return measured;
}

}  // namespace normd
