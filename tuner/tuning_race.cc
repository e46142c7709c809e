// The second half of TuningRun: the race among the best, and the choice.
#include <algorithm>

#include "kernels/check.h"
#include "tuner/race_figures.h"
#include "tuner/tuning_run.h"

namespace normd {
namespace {

constexpr std::size_t finalists_max = 8;  // more would thin out the samples of each

}  // namespace

// Time over the best time seen, at the edge where that is worst.
double TuningRun::loss(const Entry& entry) const {
  double worst = 0;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    double best = entry.explored_ns[edge];
    for (const Entry& other : entries_) {
      if (!other.explored_ns.empty()) best = std::min(best, other.explored_ns[edge]);
    }
    worst = std::max(worst, entry.explored_ns[edge] / best);
  }
  return worst;
}

std::vector<int> TuningRun::passed_by_loss() const {
  std::vector<std::pair<double, int>> order;
  for (int number = 0; number < static_cast<int>(entries_.size()); ++number) {
    const Entry& entry = entries_[static_cast<std::size_t>(number)];
    if (entry.trial.verdict.kind == VerdictKind::measured && !entry.explored_ns.empty()) {
      order.emplace_back(loss(entry), number);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<int> numbers;
  for (const auto& [ignored, number] : order) numbers.push_back(number);
  return numbers;
}

// The default and the best, as many as can run the least number of rounds by the race's end.
std::vector<int> TuningRun::finalists(Clock::time_point race_end) const {
  const std::chrono::duration<double, std::milli> left = race_end - Clock::now();
  // The control copy, which is no slower than any of them, and the default.
  double round_ms = 2 * entry_of(*default_).sampling_ms;
  std::vector<int> numbers;
  for (const int number : passed_by_loss()) {
    if (numbers.size() == finalists_max) break;
    if (number != *default_) round_ms += entry_of(number).sampling_ms;
    if (!numbers.empty() && round_ms * RaceRules().rounds_min > left.count()) break;
    numbers.push_back(number);
  }
  if (std::find(numbers.begin(), numbers.end(), *default_) == numbers.end())
    numbers.push_back(*default_);
  return numbers;
}

Result<void> TuningRun::race() {
  report(TuneStage::racing);
  parts_.stop_point.reach("tuning.race_begun");
  RaceRules rules;
  if (parts_.spec.kind == DeviceKind::host) rules.noisy = 0;  // its times mean nothing
  const auto end = budget_.race_end(Clock::now());
  while (true) {
    const std::vector<int> numbers = finalists(end);
    Race race(rules, edges_.size(), [&](const std::vector<int>& asked, std::size_t edge) {
      parts_.stop_point.reach("tuning.race_round");
      if (edge == 0) report_rounds(race);
      return sample_racers(asked, edge, TuningBudget::sample_limit(Clock::now(), end, patience_));
    });
    auto ran =
        race.run(numbers, *default_, [&] { return Clock::now() >= end || !stopped_or_expired(); });
    parts_.stop_point.reach("tuning.raced");
    report_rounds(race);
    if (auto go_on = stopped_or_expired(); !go_on) return go_on;
    if (!ran) return ran;
    if (passed(*default_)) {
      choose_winner(race, numbers, race.rounds() >= rules.rounds_min);
      break;
    }
    // The default fell in the race: the next one in rank takes its place, and all is run anew.
    default_.reset();
    progress_.default_candidate.clear();
    progress_.default_binary_digest.clear();
    report(TuneStage::racing);
    find_default(false);
    if (!default_) return fail(nothing_passed());
  }
  parts_.stop_point.reach("tuning.chosen");
  // Who was held up and lost the lease must not replace the winner of whoever has it now.
  if (auto held = keep_lease(); !held) return held;
  report(TuneStage::done);
  return {};
}

void TuningRun::report_rounds(const Race& race) {
  progress_.rounds_kept = race.rounds();
  progress_.rounds_discarded = race.rounds_discarded();
  report(TuneStage::racing);
}

// A death spoils the round, and nobody knows over whom the worker died: from then on each is
// sampled in a call of its own, so that whoever does it again is known.
Result<Race::Sampled> TuningRun::sample_racers(const std::vector<int>& numbers, std::size_t edge,
                                               const TuningBudget::Limit& limit) {
  if (one_by_one_) return sample_one_by_one(numbers, edge, limit);
  auto samples = parts_.worker->sample(numbers, edge, limit.time);
  if (samples) {
    return Race::Sampled{
        .ns = std::move(samples->ns), .to_blame = {}, .condition = std::move(samples->condition)};
  }
  if (!process_lost(samples.error()) || !stopped_or_expired())
    return fail(worker_failed(std::move(samples.error())));
  one_by_one_ = true;
  return Race::Sampled{};
}

Result<Race::Sampled> TuningRun::sample_one_by_one(const std::vector<int>& numbers,
                                                   std::size_t edge,
                                                   const TuningBudget::Limit& limit) {
  Race::Sampled sampled;
  for (const int number : numbers) {
    auto samples = parts_.worker->sample({number}, edge, limit.time);
    if (samples) {
      sampled.ns.push_back(samples->ns.front());
      sampled.condition = condition_during(sampled.condition, samples->condition);
      continue;
    }
    const Error error = samples.error();
    if (!process_lost(error) || !stopped_or_expired()) return fail(worker_failed(error));
    const bool hung = error.code == ErrorCode::deadline_exceeded;
    if (number == control_copy || (hung && limit.by_budget)) return Race::Sampled{};
    refuse(number, hung ? Reason::timeout : Reason::fault, error.message);
    if (auto stored = settle(number); !stored) return fail(std::move(stored.error()));
    return Race::Sampled{.ns = {}, .to_blame = number};
  }
  return sampled;
}

// With too few rounds to decide anything the default wins: it is no slower than itself.
void TuningRun::choose_winner(const Race& race, const std::vector<int>& numbers, bool decides) {
  std::vector<bool> deciding;
  for (const MeasuredEdge& edge : edges_) deciding.push_back(edge.decides);
  std::vector<Contender> contenders;
  for (const int number : numbers) {
    Entry& entry = entry_of(number);
    if (!passed(number) || race.rounds() == 0) continue;
    entry.raced = true;
    entry.trial.verdict.measurements = measurements_of(race, number, edges_);
    contenders.push_back({.number = number,
                          .edges = race.intervals(number),
                          .registers = entry.trial.registers,
                          .block = entry.launch.block,
                          .text = to_text(entry.candidate)});
  }
  const Choice choice =
      decides ? choose(contenders, *default_, deciding) : Choice{.winner = *default_, .ties = {}};
  const Entry& winner = entry_of(choice.winner);
  chosen_ = Chosen{.trial = winner.trial,
                   .launch = winner.launch,
                   .by_default = entry_of(*default_).trial,
                   .ties = {}};
  for (const int tie : choice.ties) chosen_->ties.push_back(entry_of(tie).candidate);
  progress_.best = to_text(winner.candidate);
  progress_.best_ns = winner.trial.verdict.measurements.back().median_ns;
}

}  // namespace normd
