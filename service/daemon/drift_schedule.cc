#include "service/daemon/drift_schedule.h"

#include <algorithm>

namespace normd {
namespace {

// In times of `quiet`, so an hour and five minutes of a minute: what is well is not worth more of
// the device's power, and what is suspected is looked at soon, but not in the same state.
constexpr int again_after = 60;
constexpr int confirm_after = 5;

}  // namespace

bool DriftSchedule::is_due(Moment now, std::uint64_t activity) {
  if (!quiet_since_ || activity != activity_) {
    activity_ = activity;
    quiet_since_ = now;
  }
  return now - *quiet_since_ >= quiet_;
}

std::optional<KernelCache::Loaded> DriftSchedule::next(Moment now,
                                                       std::vector<KernelCache::Loaded> loaded) {
  quiet_since_ = now;
  // What was not checked for so long is as good as never checked.
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.checked_at && now - *entry.second.checked_at >= 2 * again_after * quiet_;
  });
  std::erase_if(loaded, [&](const KernelCache::Loaded& one) {
    if (one.uses == 0) return true;
    const auto known = entries_.find(to_text(one.key));
    if (known == entries_.end() || !known->second.checked_at) return false;
    const int periods = known->second.suspicion.exists() ? confirm_after : again_after;
    return now - *known->second.checked_at < periods * quiet_;
  });
  const auto most = std::max_element(
      loaded.begin(), loaded.end(),
      [](const KernelCache::Loaded& a, const KernelCache::Loaded& b) { return a.uses < b.uses; });
  if (most == loaded.end()) return std::nullopt;
  entries_[to_text(most->key)].checked_at = now;
  return std::move(*most);
}

void DriftSchedule::put_off(const std::string& key) {
  const auto known = entries_.find(key);
  if (known != entries_.end()) known->second.checked_at.reset();
}

DriftSchedule::Finding DriftSchedule::judge(const std::string& key,
                                            const std::vector<Drift>& drifts) {
  Suspicion& suspicion = entries_[key].suspicion;
  if (suspicion.confirm(drifts)) return Finding::confirmed;
  return suspicion.exists() ? Finding::suspected : Finding::nothing;
}

}  // namespace normd
