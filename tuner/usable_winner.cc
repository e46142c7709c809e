#include "tuner/usable_winner.h"

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

}  // namespace

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

}  // namespace normd
