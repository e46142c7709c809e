#include "service/daemon/retunes.h"

#include <utility>

#include "kernels/catalog_digest.h"
#include "tuner/tuned_with.h"

namespace normd {
namespace {

// Keys remembered, of both causes. Beyond it nothing is tuned again in the background: at 2 s a
// shape these are nine hours.
constexpr std::size_t done_max = 16'384;

}  // namespace

// An operator pinned it to keep it, whatever changes.
bool Retunes::begin(const Winner& winner, const Done& done) {
  if (parts_.compiler.empty() || winner.pinned) return false;
  const auto all = done_.lock();
  return all->size() < done_max && all->insert(done).second;
}

void Retunes::look_at(const Winner& winner) {
  const Done done{Cause::changed, to_text(winner.key)};
  if (done_.lock()->contains(done)) return;
  const std::string changes =
      changes_since(winner, {.driver = parts_.driver,
                             .compiler = parts_.compiler,
                             .catalog_digest = catalog_digest(winner.key, parts_.spec)});
  if (!changes.empty() && begin(winner, done)) queue(winner, done, changes);
}

void Retunes::drifted(const Winner& winner, const std::string& how) {
  const Done done{Cause::drifted, to_text(winner.key)};
  if (begin(winner, done)) queue(winner, done, how);
}

bool Retunes::has_drifted(const Key& key) const {
  return done_.lock()->contains({Cause::drifted, to_text(key)});
}

void Retunes::queue(const Winner& winner, const Done& done, const std::string& reason) {
  const Key& key = winner.key;
  const TuneRequest request{.problem = problem_at(key, key.bucket.rows_min),
                            .mode = key.mode,
                            .budget_ms = parts_.tuning_budget_ms,
                            .again = true};
  // The name that a client's repeated tuning of the key has, so that it joins.
  auto ticket =
      parts_.submit(to_text(key) + " again", request,
                    {.progress = {}, .finished = [this, key](const Result<Tuning>& tuning) {
                       if (tuning) parts_.tuned(key);
                     }});
  if (!ticket) {
    parts_.log->warning("retune_not_queued", {{"key", done.second}, {"reason", ticket.error()}});
    done_.lock()->erase(done);
    return;
  }
  ++parts_.counters->retunes;
  parts_.log->info("retune", {{"key", done.second}, {"reason", reason}});
}

}  // namespace normd
