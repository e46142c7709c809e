#include "tuner/usable_winner.h"

#include <algorithm>
#include <map>

#include "kernels/catalog.h"
#include "kernels/source.h"

namespace normd {
namespace {

// Empty if the winner may be served; otherwise why not.
std::string objection(const Winner& winner, const Problem& problem, const DeviceSpec& spec) {
  const std::string& name = winner.candidate.template_name;
  const Template* entry = find_template(name);
  if (entry == nullptr) return "the stored winner's template " + name + " is not in this program";
  if (entry->grade != Grade::exact) return "the stored winner's template " + name + " is for study";
  if (winner.template_digest != template_digest(name)) {
    return "the text of template " + name + " changed since the winner was stored";
  }
  if (auto valid = validate(winner.candidate, problem, spec); !valid) {
    return "the stored winner no longer fits: " + valid.error().message;
  }
  if (winner.launch != launch_of(winner.candidate, problem, spec)) {
    return "the stored winner's launch is not what its template launches now";
  }
  return {};
}

// The time over the best of all, at the row count where that is worst.
double worst_loss(const Trial& trial, const std::map<std::int64_t, double>& best_ns) {
  double worst = 1;
  for (const Measurement& at : trial.verdict.measurements) {
    worst = std::max(worst, at.median_ns / best_ns.at(at.rows));
  }
  return worst;
}

}  // namespace

bool is_offered(const Candidate& candidate, const Key& key, const DeviceSpec& spec) {
  const Template* entry = find_template(candidate.template_name);
  return entry != nullptr && entry->grade == Grade::exact &&
         validate(candidate, problem_at(key, key.bucket.rows_min), spec).has_value();
}

StoredWinner find_usable_winner(Store& store, const Key& key, const DeviceSpec& spec) {
  auto found = store.find_winner(key);
  if (!found) return {.why = "the store could not be read: " + found.error().message};
  if (!*found) return {.why = "the store has no winner of this key"};
  StoredWinner stored{.winner = std::move(**found)};
  stored.why = objection(*stored.winner, problem_at(key, key.bucket.rows_min), spec);
  if (!stored.why.empty()) return stored;

  // The store gives no binary whose bytes do not match their digest.
  auto binary = store.find_binary(stored.winner->binary_digest);
  if (!binary) {
    stored.why = "the winner's binary could not be read: " + binary.error().message;
  } else if (!*binary) {
    stored.why = "the winner's binary is not in the store, or not sound";
  } else {
    stored.binary = std::move(**binary);
    stored.why = "the store has a winner and its binary";
  }
  return stored;
}

std::vector<Trial> find_usable_trials(Store& store, const Key& key, const DeviceSpec& spec) {
  auto trials = store.find_trials(key);
  if (!trials) return {};
  std::erase_if(*trials, [&](const Trial& trial) {
    return trial.verdict.kind != VerdictKind::measured || trial.verdict.measurements.empty() ||
           !is_offered(trial.candidate, key, spec);
  });
  std::map<std::int64_t, double> best_ns;
  for (const Trial& trial : *trials) {
    for (const Measurement& at : trial.verdict.measurements) {
      const auto [best, is_first] = best_ns.emplace(at.rows, at.median_ns);
      best->second = std::min(best->second, at.median_ns);
    }
  }
  std::stable_sort(trials->begin(), trials->end(), [&](const Trial& a, const Trial& b) {
    return worst_loss(a, best_ns) < worst_loss(b, best_ns);
  });
  return std::move(*trials);
}

std::optional<Binary> find_usable_binary(Store& store, const Key& key, const Trial& trial,
                                         const DeviceSpec& spec) {
  auto binary = store.find_binary(trial.binary_digest);
  if (!binary || !*binary) return std::nullopt;
  const Source source = render(trial.candidate, problem_at(key, key.bucket.rows_min), spec);
  if ((*binary)->source_digest != source.digest) return std::nullopt;
  return std::move(*binary);
}

}  // namespace normd
