#include "tuner/race.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"

namespace normd {
namespace {

// Before so many rounds nobody knows what is usual.
constexpr int rounds_to_compare_with = 3;

constexpr const char* slow_copy = "slow control copy";
constexpr const char* moved_clock = "clock moved";

using Clock = int DeviceCondition::*;
constexpr Clock clocks[] = {&DeviceCondition::sm_clock_mhz, &DeviceCondition::memory_clock_mhz};

// Of the first `rounds` conditions, where it is known; 0: nowhere.
double median_mhz(const std::vector<DeviceCondition>& conditions, std::size_t rounds, Clock clock) {
  std::vector<double> known;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (conditions[round].*clock > 0) known.push_back(conditions[round].*clock);
  }
  return known.empty() ? 0 : median_interval(std::move(known)).median;
}

}  // namespace

Result<void> Race::run(std::vector<int> numbers, int stays,
                       const std::function<bool()>& out_of_time) {
  racing_ = std::move(numbers);
  while (rounds_ < rules_.rounds_max) {
    if (auto done = round(rounds_ % 2 == 0); !done) return done;
    if (std::find(racing_.begin(), racing_.end(), stays) == racing_.end()) break;
    if (discarded_ > rules_.rounds_min &&
        discarded_ > rules_.noisy_rounds_max * (rounds_ + discarded_)) {
      return fail(busy());
    }
    if (out_of_time()) break;
    if (rounds_ < rules_.rounds_min) continue;
    update_intervals();
    leave_hopeless(stays);
    if (settled()) break;
  }
  update_intervals();
  return {};
}

Result<void> Race::round(bool forward) {
  std::vector<int> order = racing_;
  if (!forward) std::reverse(order.begin(), order.end());
  order.insert(order.begin(), control_copy);
  std::vector<Sampled> by_edge;
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    auto sampled = sample_(order, edge);
    if (!sampled) return fail(std::move(sampled.error()));
    if (sampled->ns.empty()) return spoil(*sampled);
    NORMD_CHECK(sampled->ns.size() == order.size());
    by_edge.push_back(std::move(*sampled));
  }
  if (const std::string fault = fault_of(by_edge); !fault.empty()) {
    ++discarded_;
    ++discarded_for_[fault];
    return {};
  }
  ++rounds_;
  conditions_.resize(edges_);
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    conditions_[edge].push_back(by_edge[edge].condition);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& of_number = samples_[order[i]];
    of_number.resize(edges_);
    for (std::size_t edge = 0; edge < edges_; ++edge)
      of_number[edge].push_back(by_edge[edge].ns[i]);
  }
  return {};
}

Result<void> Race::spoil(const Sampled& sampled) {
  if (sampled.to_blame) std::erase(racing_, *sampled.to_blame);
  if (++spoilt_ <= rules_.spoilt_rounds_max) return {};
  return fail(ErrorCode::internal,
              std::to_string(spoilt_) + " rounds of the race could not be sampled");
}

// Why the round is to be thrown away; empty: it counts.
std::string Race::fault_of(const std::vector<Sampled>& by_edge) const {
  for (const Sampled& sampled : by_edge) {
    if (!sampled.condition.held_back.empty()) return "held back: " + sampled.condition.held_back;
  }
  if (rounds_ < rounds_to_compare_with) return {};
  if (has_slow_copy(by_edge)) return slow_copy;
  return has_moved_clock(by_edge) ? moved_clock : "";
}

bool Race::has_slow_copy(const std::vector<Sampled>& by_edge) const {
  if (rules_.noisy <= 0) return false;
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    const double quiet = median_interval(samples_.at(control_copy)[edge]).median;
    if (by_edge[edge].ns.front() > quiet * (1 + rules_.noisy)) return true;
  }
  return false;
}

bool Race::has_moved_clock(const std::vector<Sampled>& by_edge) const {
  const auto moved = discarded_for_.find(moved_clock);
  const int moved_before = moved == discarded_for_.end() ? 0 : moved->second;
  const int with_this = rounds_ + discarded_ + 1;
  if (moved_before + 1 > rules_.clock_rounds_max * with_this) return false;
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    for (const Clock clock : clocks) {
      const double usual = median_mhz(conditions_[edge], conditions_[edge].size(), clock);
      const int now = by_edge[edge].condition.*clock;
      if (now == 0 || usual == 0) continue;
      if (std::abs(now - usual) > usual * rules_.clock_moved) return true;
    }
  }
  return false;
}

Error Race::busy() const {
  std::string message = "device busy: " + std::to_string(discarded_) + " of " +
                        std::to_string(rounds_ + discarded_) + " rounds were thrown away (";
  for (const auto& [cause, rounds] : discarded_for_) {
    if (cause != discarded_for_.begin()->first) message += "; ";
    message += cause + " x" + std::to_string(rounds);
  }
  return Error{ErrorCode::unavailable, message + ")", {}};
}

void Race::update_intervals() {
  for (const auto& [number, by_edge] : samples_) {
    auto& of_number = intervals_[number];
    of_number.clear();
    for (const auto& samples : by_edge) of_number.push_back(median_interval(samples));
  }
}

void Race::leave_hopeless(int stays) {
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    double best_high = intervals_[racing_.front()][edge].high;
    for (const int number : racing_) best_high = std::min(best_high, intervals_[number][edge].high);
    std::erase_if(racing_, [&](int number) {
      return number != stays && intervals_[number][edge].low > best_high * (1 + rules_.hopeless);
    });
  }
  NORMD_CHECK(!racing_.empty());
}

bool Race::settled() const {
  return std::all_of(racing_.begin(), racing_.end(), [&](int number) {
    const auto& of_number = intervals_.at(number);
    return std::all_of(of_number.begin(), of_number.end(), [&](const Interval& interval) {
      return interval.relative_width() <= rules_.narrow;
    });
  });
}

int Race::sm_clock_mhz(int number, std::size_t edge) const {
  const auto found = samples_.find(number);
  NORMD_CHECK(found != samples_.end());
  // Whoever left did so for good, so that its rounds are the first ones.
  const std::size_t rounds = found->second[edge].size();
  return static_cast<int>(median_mhz(conditions_[edge], rounds, &DeviceCondition::sm_clock_mhz));
}

const std::vector<Interval>& Race::intervals(int number) const {
  const auto found = intervals_.find(number);
  NORMD_CHECK(found != intervals_.end());
  return found->second;
}

}  // namespace normd
