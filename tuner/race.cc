#include "tuner/race.h"

#include <algorithm>

#include "kernels/check.h"

namespace normd {

Result<void> Race::run(std::vector<int> numbers, int stays,
                       const std::function<bool()>& out_of_time) {
  racing_ = std::move(numbers);
  while (rounds_ < rules_.rounds_max) {
    if (auto done = round(rounds_ % 2 == 0); !done) return done;
    if (std::find(racing_.begin(), racing_.end(), stays) == racing_.end()) break;
    if (discarded_ > rules_.rounds_min &&
        discarded_ > rules_.noisy_rounds_max * (rounds_ + discarded_)) {
      return fail(ErrorCode::unavailable, "device busy: " + std::to_string(discarded_) + " of " +
                                              std::to_string(rounds_ + discarded_) +
                                              " rounds had a slow control copy");
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
  std::vector<std::vector<double>> by_edge;
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    auto sampled = sample_(order, edge);
    if (!sampled) return fail(std::move(sampled.error()));
    if (sampled->ns.empty()) return spoil(*sampled);
    NORMD_CHECK(sampled->ns.size() == order.size());
    by_edge.push_back(std::move(sampled->ns));
  }
  if (!keep_round(by_edge)) {
    ++discarded_;
    return {};
  }
  ++rounds_;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& of_number = samples_[order[i]];
    of_number.resize(edges_);
    for (std::size_t edge = 0; edge < edges_; ++edge) of_number[edge].push_back(by_edge[edge][i]);
  }
  return {};
}

Result<void> Race::spoil(const Sampled& sampled) {
  if (sampled.to_blame) std::erase(racing_, *sampled.to_blame);
  if (++spoilt_ <= rules_.spoilt_rounds_max) return {};
  return fail(ErrorCode::internal,
              std::to_string(spoilt_) + " rounds of the race could not be sampled");
}

bool Race::keep_round(const std::vector<std::vector<double>>& by_edge) {
  const auto known = samples_.find(control_copy);
  if (rules_.noisy <= 0 || known == samples_.end() || rounds_ < 3) return true;
  for (std::size_t edge = 0; edge < edges_; ++edge) {
    const double quiet = median_interval(known->second[edge]).median;
    if (by_edge[edge].front() > quiet * (1 + rules_.noisy)) return false;
  }
  return true;
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

const std::vector<Interval>& Race::intervals(int number) const {
  const auto found = intervals_.find(number);
  NORMD_CHECK(found != intervals_.end());
  return found->second;
}

}  // namespace normd
