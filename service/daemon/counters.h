// Counters: what happened since this daemon started, for GetStatus. The tunings' own figures are
// the Tuner's. Atomic; any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "service/daemon/answer.h"

namespace normd {

struct ServingCounters {
  std::atomic<std::int64_t> runs{0};  // answered, whatever the origin
  std::atomic<std::int64_t> runs_from_memory{0};
  std::atomic<std::int64_t> runs_from_store{0};
  std::atomic<std::int64_t> runs_joined{0};
  std::atomic<std::int64_t> runs_tuned{0};
  std::atomic<std::int64_t> runs_default{0};
  std::atomic<std::int64_t> runs_fallback{0};
  std::atomic<std::int64_t> runs_refused{0};  // answered with an error
  std::atomic<std::int64_t> winners_quarantined{0};
  std::atomic<std::int64_t> retunes{0};       // queued in the background
  std::atomic<std::int64_t> drift_checks{0};  // winners measured again

  void count_run(Origin origin) {
    ++runs;
    switch (origin) {
      case Origin::memory:
        ++runs_from_memory;
        break;
      case Origin::store:
        ++runs_from_store;
        break;
      case Origin::joined:
        ++runs_joined;
        break;
      case Origin::tuned:
        ++runs_tuned;
        break;
      case Origin::standard:
        ++runs_default;
        break;
      case Origin::fallback:
        ++runs_fallback;
        break;
      case Origin::none:
        break;
    }
  }
};

}  // namespace normd
