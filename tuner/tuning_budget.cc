#include "tuner/tuning_budget.h"

#include <algorithm>

#include "kernels/limits.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

// Of the budget: trying candidates one by one.
constexpr double exploring_share = 0.8;
// Races take 10 to 110 ms on an H200; this is more, for any budget that is not absurd.
constexpr double racing_share_min = 0.1;
// A first binary takes a second where all is cold, and several on a machine that is busy; what it
// takes is no candidate's fault.
constexpr milliseconds first_binary_max{10'000};
constexpr milliseconds trials_min{4000};
// Ending a trial costs a process and its context, so what is about to be done may finish.
constexpr milliseconds trial_min{250};
// A first trial loads and links; other users of the device may hold it for a moment.
constexpr milliseconds patience_min{1000};
constexpr double copies_max = 1000;

milliseconds share(milliseconds budget, double part) {
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(budget.count()) * part));
}

TuningBudget::Limit limit_of(TuningBudget::Duration left, TuningBudget::Duration patience) {
  const auto time = std::min(std::max(left, trial_min), patience);
  return {.time = time, .by_budget = time < patience};
}

milliseconds between(TuningBudget::Moment from, TuningBudget::Moment to) {
  return std::chrono::duration_cast<milliseconds>(to - from);
}

}  // namespace

TuningBudget::Moment TuningBudget::exploring_end() const {
  return begun_ + share(budget_, exploring_share);
}

TuningBudget::Moment TuningBudget::search_end() const {
  const auto twice = begun_ + 2 * budget_;
  if (!first_binary_) return std::max(twice, begun_ + first_binary_max);
  return std::max(twice, *first_binary_ + trials_min);
}

TuningBudget::Moment TuningBudget::race_end(Moment race_begun) const {
  return std::max(begun_ + budget_, race_begun + share(budget_, racing_share_min));
}

TuningBudget::Limit TuningBudget::trial_limit(Moment now, bool one_has_passed,
                                              Duration patience) const {
  if (one_has_passed) return limit_of(between(now, exploring_end()), patience);
  // Half of what is left, so that the candidates behind a slow one have their turn too.
  const auto left = between(now, search_end());
  return limit_of(std::min(left, std::max(left / 2, trials_min / 2)), patience);
}

TuningBudget::Limit TuningBudget::sample_limit(Moment now, Moment race_end, Duration patience) {
  return limit_of(between(now, race_end), patience);
}

milliseconds trial_patience(DeviceKind kind, double copy_ns) {
  const milliseconds most(limits::trial_ms_max);
  if (kind == DeviceKind::host) return most;  // its kernels are no match for its copies
  return std::min(
      most, patience_min + milliseconds(static_cast<std::int64_t>(copies_max * copy_ns / 1e6)));
}

}  // namespace normd
