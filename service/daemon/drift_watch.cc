#include "service/daemon/drift_watch.h"

#include <optional>
#include <utility>

namespace normd {
namespace {

std::string words_of(const std::vector<Drift>& drifts) {
  std::string words;
  for (const Drift& drift : drifts) words += (words.empty() ? "" : "; ") + to_text(drift);
  return words;
}

}  // namespace

void DriftWatch::tick() {
  if (parts_.quiet.count() == 0) return;
  const TuningQueue::Depth depth = parts_.resolver->depth();
  if (depth.queued + depth.running > 0) ++busy_ticks_;
  const std::uint64_t activity = parts_.serving->served() + busy_ticks_ +
                                 static_cast<std::uint64_t>(parts_.tuner->counters().tunings);
  const auto now = std::chrono::steady_clock::now();
  const auto schedule = schedule_.lock();
  if (!schedule->is_due(now, activity)) return;
  std::vector<KernelCache::Loaded> loaded = parts_.resolver->loaded();
  std::erase_if(loaded, [&](const KernelCache::Loaded& one) {
    return parts_.resolver->has_drifted(one.key);
  });
  const auto next = schedule->next(now, std::move(loaded));
  if (!next) return;
  const auto work = [this, next = *next](const std::stop_token& stop) { check(next, stop); };
  if (!parts_.resolver->run_if_idle(work)) schedule->put_off(to_text(next->key));
}

// A pinned winner would not be tuned again; what another device measured is no measure here; and
// what serves in the place of a winner is none.
void DriftWatch::check(const KernelCache::Loaded& loaded, const std::stop_token& stop) {
  const std::string key = to_text(loaded.key);
  const auto winner = parts_.store->peek_winner(loaded.key);
  if (!winner || !*winner || (*winner)->pinned ||
      (*winner)->device_uuid != parts_.serving->identity().uuid ||
      (*winner)->binary_digest != loaded.binary_digest) {
    return;
  }
  const auto binary = parts_.store->find_binary(loaded.binary_digest);
  if (!binary || !*binary) return;
  const auto measured = parts_.tuner->remeasure(**winner, **binary, stop);
  if (measured) return judge(**winner, *measured);
  parts_.log->debug("drift_not_checked", {{"key", key}, {"reason", measured.error()}});
  if (stop.stop_requested()) schedule_.lock()->put_off(key);
}

void DriftWatch::judge(const Winner& winner, const std::vector<Measurement>& now) {
  ++parts_.counters->drift_checks;
  const std::string key = to_text(winner.key);
  const std::vector<Drift> drifts =
      find_drifts(winner.measurements, now,
                  measured_edges(winner.key.problem, parts_.serving->spec(), winner.key.bucket));
  const std::string how = words_of(drifts);
  const auto finding = schedule_.lock()->judge(key, drifts);
  parts_.log->debug("drift_checked", {{"key", key}, {"drift", how}});
  if (finding == DriftSchedule::Finding::suspected) {
    parts_.log->info("drift_suspected", {{"key", key}, {"reason", how}});
  }
  if (finding == DriftSchedule::Finding::confirmed) parts_.resolver->drifted(winner, how);
}

}  // namespace normd
