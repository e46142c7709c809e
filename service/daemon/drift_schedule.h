// DriftSchedule: when which winner of a device is to be measured again: one at a time, while
// nothing else happens on the device, the most used first. It keeps what the checks suspect.
// Moments come in from outside, so that tests make them up. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "service/daemon/kernel_cache.h"
#include "tuner/drift.h"

namespace normd {

class DriftSchedule {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // A check needs so long without a request or a tuning, and as long since the check before it.
  explicit DriftSchedule(std::chrono::seconds quiet) : quiet_(quiet) {}

  // To be called about once a second, with a number that is another one after each request and each
  // tuning. Whether a check may begin now.
  bool is_due(Moment now, std::uint64_t activity);

  // Of those that were used and were not checked of late, the most used; it counts as checked now.
  std::optional<KernelCache::Loaded> next(Moment now, std::vector<KernelCache::Loaded> loaded);

  // The check of this key was given up for something else: it may come again.
  void put_off(const std::string& key);
  enum class Finding : std::uint8_t { nothing = 1, suspected = 2, confirmed = 3 };
  Finding judge(const std::string& key, const std::vector<Drift>& drifts);

 private:
  struct Entry {
    std::optional<Moment> checked_at;  // none: it was put off
    Suspicion suspicion;
  };

  const std::chrono::seconds quiet_;
  std::uint64_t activity_ = 0;
  std::optional<Moment> quiet_since_;
  std::map<std::string, Entry> entries_;  // by key
};

}  // namespace normd
