// DriftWatch: has the most used winners of a device measured again while nothing else happens
// there, and has a winner tuned again whose time has changed for good. It decides nothing by
// itself: when and which is DriftSchedule's, what counts as a change drift.h's. tick() is one
// thread's; the checks run on the thread that tunes.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "service/daemon/drift_schedule.h"
#include "service/daemon/resolver.h"
#include "service/daemon/serving_thread.h"
#include "tuner/guarded.h"
#include "tuner/tuner.h"

namespace normd {

class DriftWatch {
 public:
  // All of them outlive the watch; the resolver's tuning is stopped before it goes.
  struct Parts {
    std::chrono::seconds quiet{0};  // 0: nothing is measured again
    Store* store = nullptr;
    ServingThread* serving = nullptr;
    Tuner* tuner = nullptr;
    Resolver* resolver = nullptr;
    ServingCounters* counters = nullptr;
    const Log* log = nullptr;
  };
  explicit DriftWatch(Parts parts) : parts_(parts), schedule_(DriftSchedule(parts.quiet)) {}

  void tick();  // about once a second

 private:
  // On the thread that tunes.
  void check(const KernelCache::Loaded& loaded, const std::stop_token& stop);
  void judge(const Winner& winner, const std::vector<Measurement>& now);

  const Parts parts_;
  std::uint64_t busy_ticks_ = 0;  // tick's alone
  Guarded<DriftSchedule> schedule_;
};

}  // namespace normd
