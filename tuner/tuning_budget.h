// TuningBudget: how the wall time of one tuning is shared out, and how long one trial may take of
// it. Moments come in from outside, so that tests make them up. Plain value; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "kernels/device_spec.h"

namespace normd {

class TuningBudget {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  TuningBudget(Duration budget, Moment begun) : budget_(budget), begun_(begun) {}

  Duration budget() const { return budget_; }
  Moment begun() const { return begun_; }

  // Candidates are tried one by one until here: the rest is for the race.
  Moment exploring_end() const;
  // Until here if none has passed by exploring_end(): then the tuning has failed. A budget more,
  // and however small the budget is, enough for the compiler to begin and for a few trials.
  Moment search_end() const;
  void first_binary_at(Moment now) { first_binary_ = now; }
  // The budget's end, but a tenth of the budget at least for a race that begins late.
  Moment race_end(Moment race_begun) const;

  struct Limit {
    Duration time;
    bool by_budget = false;  // nothing can be said of a trial that took longer
  };
  // Of one trial that begins now; `patience` is what is enough to call it hung.
  Limit trial_limit(Moment now, bool one_has_passed, Duration patience) const;
  // Of one call for samples in a race.
  static Limit sample_limit(Moment now, Moment race_end, Duration patience);

 private:
  Duration budget_;
  Moment begun_;
  std::optional<Moment> first_binary_;
};

// After this long without an answer a trial hangs: a gate runs a candidate a dozen times and reads
// its output over, so a sound one is done within a thousand times the copy of the same bytes.
// `copy_ns` is the slowest copy measured for the problem.
std::chrono::milliseconds trial_patience(DeviceKind kind, double copy_ns);

}  // namespace normd
