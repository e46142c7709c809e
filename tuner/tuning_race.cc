// The second half of TuningRun: the race among the best, and the choice.
#include <algorithm>
#include <limits>

#include "kernels/check.h"
#include "tuner/tuning_run.h"

namespace normd {
namespace {

constexpr std::size_t finalists_max = 8;  // more would thin out the samples of each
// The store's lease is renewed this often, a fifth of its life.
constexpr auto renew_every = std::chrono::seconds(2);
constexpr double copy_close = 1.02;  // within this of the copy there is nothing left to gain

std::vector<Measurement> measurements_of(const Race& race, int number,
                                         const std::vector<std::int64_t>& rows,
                                         const std::vector<CacheState>& cache) {
  std::vector<Measurement> measurements;
  for (std::size_t edge = 0; edge < rows.size(); ++edge) {
    const Interval& interval = race.intervals(number)[edge];
    measurements.push_back({.rows = rows[edge],
                            .cache = cache[edge],
                            .median_ns = interval.median,
                            .low_ns = interval.low,
                            .high_ns = interval.high,
                            .samples = interval.samples,
                            .copy_ns = race.intervals(control_copy)[edge].median});
  }
  return measurements;
}

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

bool TuningRun::close_to_copy() const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    if (entry.explored_ns.empty()) return false;
    for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
      if (entry.explored_ns[edge] > copy_ns_[edge] * copy_close) return false;
    }
    return true;
  });
}

Result<void> TuningRun::race() {
  std::vector<int> numbers = passed_by_loss();
  if (numbers.size() > finalists_max) numbers.resize(finalists_max);
  if (std::find(numbers.begin(), numbers.end(), *default_) == numbers.end())
    numbers.push_back(*default_);
  report(TuneStage::racing);
  parts_.stop_point.reach("tuning.race_begun");

  RaceRules rules;
  if (parts_.spec.kind == DeviceKind::host) rules.noisy = 0;  // its times mean nothing
  Race race(rules, edges_.size(), [&](const std::vector<int>& asked, std::size_t edge) {
    parts_.stop_point.reach("tuning.race_round");
    return parts_.worker->sample(asked, edge);
  });
  auto ran = race.run(numbers, *default_, [&] {
    return parts_.stop.stop_requested() || out_of_time(1.0) || !stopped_or_expired();
  });
  parts_.stop_point.reach("tuning.raced");
  if (auto go_on = stopped_or_expired(); !go_on) return go_on;
  if (!ran) return ran;
  choose_winner(race, numbers);
  parts_.stop_point.reach("tuning.chosen");
  report(TuneStage::done);
  return {};
}

void TuningRun::choose_winner(const Race& race, const std::vector<int>& numbers) {
  std::vector<Contender> contenders;
  for (const int number : numbers) {
    Entry& entry = entries_[static_cast<std::size_t>(number)];
    entry.raced = true;
    entry.trial.verdict.measurements = measurements_of(race, number, edges_, cache_);
    contenders.push_back({.number = number,
                          .edges = race.intervals(number),
                          .registers = entry.trial.registers,
                          .block = entry.launch.block,
                          .text = to_text(entry.candidate)});
  }
  const Choice choice = choose(contenders, *default_);
  const Entry& winner = entries_[static_cast<std::size_t>(choice.winner)];
  chosen_ = Chosen{.trial = winner.trial,
                   .launch = winner.launch,
                   .by_default = entries_[static_cast<std::size_t>(*default_)].trial,
                   .ties = {}};
  for (const int tie : choice.ties) {
    chosen_->ties.push_back(entries_[static_cast<std::size_t>(tie)].candidate);
  }
  progress_.best = to_text(winner.candidate);
  progress_.best_ns = winner.trial.verdict.measurements.back().median_ns;
}

std::vector<Trial> TuningRun::trials() const {
  std::vector<Trial> all;
  std::vector<std::pair<double, const Entry*>> order;
  for (const Entry& entry : entries_) {
    const bool timed = entry.trial.verdict.kind == VerdictKind::measured &&
                       !entry.trial.verdict.measurements.empty();
    order.emplace_back(timed ? entry.trial.verdict.measurements.back().median_ns
                             : std::numeric_limits<double>::infinity(),
                       &entry);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ignored, entry] : order) {
    Trial trial = entry->trial;
    if (entry->same_as) {
      const Entry& first = entries_[static_cast<std::size_t>(*entry->same_as)];
      trial.verdict = first.trial.verdict;
      trial.verdict.detail = "the same binary as " + to_text(first.candidate);
    } else if (!entry->done) {
      trial.verdict.reason = Reason::out_of_budget;
    }
    all.push_back(std::move(trial));
  }
  return all;
}

std::vector<Trial> TuningRun::raced() const {
  std::vector<Trial> all;
  for (const Entry& entry : entries_) {
    if (entry.raced) all.push_back(entry.trial);
  }
  return all;
}

// Counts each reason and quotes the first of each, so that the caller learns what to repair.
Error TuningRun::nothing_passed() const {
  std::map<std::string, std::pair<int, std::string>> reasons;
  for (const Entry& entry : entries_) {
    const Verdict& verdict = entry.trial.verdict;
    auto& [count, first] = reasons[std::string(reason_name(verdict.reason))];
    if (count++ == 0) first = to_text(entry.candidate) + ": " + verdict.detail;
  }
  std::string message = "none of " + std::to_string(entries_.size()) +
                        " candidates could be used for " + to_text(parts_.key);
  if (!compiler_missing_.empty()) message += "; no compiler: " + compiler_missing_;
  for (const auto& [reason, seen] : reasons) {
    message += "; " + reason + " x" + std::to_string(seen.first) + " (" + seen.second + ")";
  }
  return Error{ErrorCode::failed_precondition, std::move(message), {}};
}

bool TuningRun::out_of_time(double share) const {
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begun_;
  return elapsed.count() >= share * static_cast<double>(parts_.budget_ms);
}

// Also keeps the lease alive.
Result<void> TuningRun::stopped_or_expired() {
  if (parts_.stop.stop_requested()) return fail(ErrorCode::unavailable, "the tuning was stopped");
  const auto now = std::chrono::steady_clock::now();
  if (parts_.lease == nullptr || now - renewed_ < renew_every) return {};
  renewed_ = now;
  auto renewed = parts_.lease->renew();
  if (!renewed && renewed.error().code == ErrorCode::not_found) {
    return fail(ErrorCode::unavailable,
                "another process took this tuning over: " + renewed.error().message);
  }
  return {};
}

void TuningRun::report(TuneStage stage) {
  progress_.stage = stage;
  progress_.elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::steady_clock::now() - begun_)
                             .count();
  if (parts_.progress) parts_.progress(progress_);
}

}  // namespace normd
