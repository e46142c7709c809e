// The race: candidates measured in turns, so that drift hits all alike, with a control copy in each
// round; the ones that clearly lose leave, the rest go on until their intervals are narrow. Rounds
// that something from outside has spoilt are thrown away and counted. It takes its samples from a
// function, so that tests race made-up numbers. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "tuner/device/device_condition.h"
#include "tuner/statistics.h"

namespace normd {

inline constexpr int control_copy = -1;  // the number that stands for the control copy

struct RaceRules {
  int rounds_min = 6;  // before anyone leaves or the race may end
  int rounds_max = 40;
  double narrow = 0.005;   // interval over median at which a candidate is known well enough
  double hopeless = 0.03;  // loss at some edge, beyond the interval, that ends a candidate
  // A round in which the device was held back is thrown away, and one whose control copy is this
  // much slower than its median so far: something else used the device. 0: however slow, for
  // devices whose times mean nothing.
  double noisy = 0.10;
  double noisy_rounds_max = 0.5;  // more than this share thrown away: the device is busy
  // So is a round after which the clock of the SMs or of memory is this far from its median so far,
  // either way. But where that is so of more than this share of rounds, it is how the device runs,
  // as a card at its power cap does: then the control copy alone tells.
  double clock_moved = 0.10;
  double clock_rounds_max = 0.25;
  int spoilt_rounds_max = 16;  // more rounds that failed to be sampled end the race
};

class Race {
 public:
  struct Sampled {
    std::vector<double> ns;       // for each number, in order; empty: this round is spoilt
    std::optional<int> to_blame;  // who spoilt it: it leaves the race
    DeviceCondition condition{};  // of the device meanwhile
  };
  // One sample of each number at one of the row counts ("edges"). An error ends the race.
  using Sample = std::function<Result<Sampled>(const std::vector<int>&, std::size_t)>;

  Race(const RaceRules& rules, std::size_t edges, Sample sample)
      : rules_(rules), edges_(edges), sample_(std::move(sample)) {}

  // Runs until the rules are content or `out_of_time` says so; with fewer than rounds_min rounds by
  // then the figures decide nothing. `stays` leaves only if it is to blame, and then the race is
  // over. unavailable with "device busy" and the causes when too many rounds were thrown away.
  Result<void> run(std::vector<int> numbers, int stays, const std::function<bool()>& out_of_time);

  // Per edge; only numbers that raced, and only after a round. control_copy is there too.
  const std::vector<Interval>& intervals(int number) const;
  // Median over the rounds in which it raced; 0: unknown.
  int sm_clock_mhz(int number, std::size_t edge) const;
  int rounds() const { return rounds_; }  // those that count
  int rounds_discarded() const { return discarded_; }

 private:
  Result<void> round(bool forward);
  Result<void> spoil(const Sampled& sampled);
  void update_intervals();
  std::string fault_of(const std::vector<Sampled>& by_edge) const;
  bool has_slow_copy(const std::vector<Sampled>& by_edge) const;
  bool has_moved_clock(const std::vector<Sampled>& by_edge) const;
  Error busy() const;
  void leave_hopeless(int stays);
  bool settled() const;

  RaceRules rules_;
  std::size_t edges_;
  Sample sample_;
  std::vector<int> racing_;
  std::map<int, std::vector<std::vector<double>>> samples_;  // number → edge → samples
  std::map<int, std::vector<Interval>> intervals_;
  std::vector<std::vector<DeviceCondition>> conditions_;  // edge → of each round that counts
  std::map<std::string, int> discarded_for_;              // cause → rounds
  int rounds_ = 0;
  int discarded_ = 0;
  int spoilt_ = 0;
};

}  // namespace normd
