// What TuningRun says of its candidates: refusals, what is stored of each, and the whole list.
#include <algorithm>
#include <limits>
#include <map>

#include "tuner/tuning_run.h"

namespace normd {
namespace {

// Within this of the copy there is little left to gain, once so many have been tried, which are
// about the first of the order.
constexpr double copy_close = 1.003;
constexpr int tried_at_least = 16;

// The store's lease is renewed this often, a fifth of its life.
constexpr auto renew_every = std::chrono::seconds(2);

}  // namespace

bool TuningRun::close_to_copy() const {
  if (parts_.everything || progress_.gated < tried_at_least) return false;
  // Where a cache holds x and y, kernels differ by much else than what a copy does.
  const auto in_cache = [](const MeasuredEdge& edge) { return edge.cache == CacheState::warm; };
  if (std::any_of(edges_.begin(), edges_.end(), in_cache)) return false;
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    if (entry.explored_ns.empty()) return false;
    for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
      if (entry.explored_ns[edge] > copy_ns_[edge] * copy_close) return false;
    }
    return true;
  });
}

void TuningRun::refuse(int number, Reason reason, std::string detail) {
  Entry& entry = entry_of(number);
  if (passed(number)) --progress_.gated;
  entry.trial.verdict = {
      .kind = VerdictKind::refused, .reason = reason, .detail = std::move(detail)};
  entry.explored_ns.clear();
  ++progress_.refused;
}

void TuningRun::give_up(int number, const TuningBudget::Limit& limit) {
  Entry& entry = entry_of(number);
  if (passed(number)) --progress_.gated;
  entry.trial.verdict = {.kind = VerdictKind::not_tried,
                         .reason = Reason::out_of_budget,
                         .detail = "not done within " + std::to_string(limit.time.count()) +
                                   " ms, which is what the budget of the tuning left for it"};
  entry.explored_ns.clear();
}

// Every candidate's own row is kept, also where several have one binary.
Result<void> TuningRun::settle(int number) {
  Entry& entry = entry_of(number);
  entry.done = true;
  entry.binary.reset();
  if (entry.trial.verdict.kind == VerdictKind::not_tried) return {};
  if (entry.trial.verdict.kind == VerdictKind::refused &&
      entry.trial.verdict.reason == entry.seen_before) {
    entry.trial.sightings += entry.sightings_before;
  }
  Result<void> stored = parts_.store->put_trial(parts_.key, entry.trial);
  for (const Entry& other : entries_) {
    if (stored && other.same_as == number) {
      stored = parts_.store->put_trial(parts_.key, trial_of(other));
    }
  }
  parts_.stop_point.reach("tuning.trial_stored");
  return stored;
}

Trial TuningRun::trial_of(const Entry& entry) const {
  Trial trial = entry.trial;
  if (entry.same_as) {
    const Trial first = trial_of(entry_of(*entry.same_as));
    trial.verdict = first.verdict;
    trial.sightings = first.sightings;
    trial.registers = first.registers;
    trial.blocks_per_sm = first.blocks_per_sm;
    trial.verdict.detail = "the same binary as " + to_text(first.candidate);
    if (!first.verdict.detail.empty()) trial.verdict.detail += ": " + first.verdict.detail;
  } else if (!entry.done) {
    trial.verdict.reason = Reason::out_of_budget;
  }
  return trial;
}

std::vector<Trial> TuningRun::trials() const {
  std::vector<Trial> all;
  for (const Entry& entry : entries_) all.push_back(trial_of(entry));
  const auto median_ns = [](const Trial& trial) {
    const bool timed =
        trial.verdict.kind == VerdictKind::measured && !trial.verdict.measurements.empty();
    return timed ? trial.verdict.measurements.back().median_ns
                 : std::numeric_limits<double>::infinity();
  };
  // The winner leads those that it ties with, and candidates with the very same binary.
  const auto is_winner = [&](const Trial& trial) {
    return chosen_ && trial.candidate == chosen_->trial.candidate;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Trial& a, const Trial& b) {
    return std::pair(!is_winner(a), median_ns(a)) < std::pair(!is_winner(b), median_ns(b));
  });
  return all;
}

std::vector<Trial> TuningRun::raced() const {
  std::vector<Trial> all;
  for (const Entry& entry : entries_) {
    const Entry& tried = entry.same_as ? entry_of(*entry.same_as) : entry;
    if (tried.raced) all.push_back(trial_of(entry));
  }
  return all;
}

// Counts each reason and quotes the first of each, so that the caller learns what to repair.
Error TuningRun::nothing_passed() const {
  std::map<std::string, std::pair<int, std::string>> reasons;
  for (const Entry& entry : entries_) {
    const Trial trial = trial_of(entry);
    auto& [count, first] = reasons[std::string(reason_name(trial.verdict.reason))];
    if (count++ == 0) first = to_text(entry.candidate) + ": " + trial.verdict.detail;
  }
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - budget_.begun());
  std::string message = "none of " + std::to_string(entries_.size()) +
                        " candidates could be used for " + to_text(parts_.key) + " within " +
                        std::to_string(elapsed.count()) + " ms, with a budget of " +
                        std::to_string(budget_.budget().count()) + " ms";
  if (!compiler_missing_.empty()) message += "; no compiler: " + compiler_missing_;
  for (const auto& [reason, seen] : reasons) {
    message += "; " + reason + " x" + std::to_string(seen.first) + " (" + seen.second + ")";
  }
  return Error{ErrorCode::failed_precondition, std::move(message), {}};
}

// Whoever stopped the tuning ended the worker too. Otherwise the tuning has failed by itself, which
// `unavailable` would not say: clients take it for leave to ask again.
Error TuningRun::worker_failed(Error error) {
  if (auto go_on = stopped_or_expired(); !go_on) return std::move(go_on.error());
  if (process_lost(error)) error.code = ErrorCode::internal;
  return error;
}

// Also keeps the lease alive. Whatever it says once, it says from then on.
Result<void> TuningRun::stopped_or_expired() {
  if (parts_.stop.stop_requested()) return fail(ErrorCode::unavailable, "the tuning was stopped");
  if (!taken_over_ && Clock::now() - renewed_ < renew_every) return {};
  return keep_lease();
}

// A lost lease may be free again a moment later; the key was another's all the same.
Result<void> TuningRun::keep_lease() {
  if (parts_.lease == nullptr) return {};
  if (taken_over_) return fail(*taken_over_);
  renewed_ = Clock::now();
  const auto renewed = parts_.lease->renew();
  if (renewed || renewed.error().code != ErrorCode::not_found) return {};
  taken_over_ = Error{ErrorCode::unavailable,
                      "another process took this tuning over: " + renewed.error().message,
                      {}};
  return fail(*taken_over_);
}

void TuningRun::report(TuneStage stage) {
  progress_.stage = stage;
  progress_.elapsed_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - budget_.begun()).count();
  if (parts_.progress) parts_.progress(progress_);
}

}  // namespace normd
