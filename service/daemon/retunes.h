// Retunes: tunings in the background of keys whose winner serves already, because something changed
// since it was found. Each key has one for each cause and daemon life, however it ends: the winner
// serves until another has won. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "kernels/key.h"
#include "service/daemon/counters.h"
#include "service/daemon/log.h"
#include "tuner/guarded.h"
#include "tuner/tuning_queue.h"

namespace normd {

class Retunes {
 public:
  struct Parts {
    DeviceSpec spec;
    std::string driver;
    std::string compiler;  // empty: none can be used here, and nothing is tuned again
    std::int64_t tuning_budget_ms = 0;
    // Into the background of the tuning queue.
    std::function<Result<TuningQueue::Ticket>(const std::string& flight, const TuneRequest&,
                                              Waiter)>
        submit;
    std::function<void(const Key&)> tuned;  // the store has its winner
    ServingCounters* counters = nullptr;
    const Log* log = nullptr;
  };
  explicit Retunes(Parts parts) : parts_(std::move(parts)) {}

  // A stored winner was loaded: queues a tuning if driver, compiler or catalog are no longer those
  // that it was found with. It takes some milliseconds.
  void look_at(const Winner& winner);
  // Its time has changed, in these words.
  void drifted(const Winner& winner, const std::string& how);
  bool has_drifted(const Key& key) const;

 private:
  enum class Cause : std::uint8_t { changed = 1, drifted = 2 };
  using Done = std::pair<Cause, std::string>;  // of a key

  bool begin(const Winner& winner, const Done& done);
  void queue(const Winner& winner, const Done& done, const std::string& reason);

  const Parts parts_;
  mutable Guarded<std::set<Done>> done_;
};

}  // namespace normd
