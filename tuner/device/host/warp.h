// Warp: 32 threads that exchange values, as the block runner sees them: who has arrived, with what,
// and in which order its lanes run. Belongs to its BlockRunner; never switches fibres itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/check.h"

namespace normd {

inline constexpr int warp_lanes = 32;

class Warp {
 public:
  // The order in which lanes run until the next call; they start over with the first.
  void restart(const std::array<std::uint8_t, warp_lanes>& order) {
    order_ = order;
    next_ = 0;
  }
  // The next lane to run, or -1: all have run up to a wait or their end. Lanes that wait in an
  // exchange go on only when it is complete.
  int next_lane() {
    while (next_ < warp_lanes) {
      const int lane = order_[static_cast<std::size_t>(next_++)];
      if ((offering_ >> lane & 1u) == 0) return lane;
    }
    return -1;
  }

  // Lane `lane` offers `value` and wants that of lane `source`, modulo 32 as on a GPU.
  void offer(int lane, unsigned value, int source) {
    NORMD_CHECK(offered_ < warp_lanes);
    value_[static_cast<std::size_t>(lane)] = value;
    source_[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(source & (warp_lanes - 1));
    offering_ |= 1u << lane;
    ++offered_;
  }
  int offered() const { return offered_; }
  // All lanes have offered: everyone's wish is met and they start over in the same order.
  void exchange() {
    NORMD_CHECK(offered_ == warp_lanes);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) received_[lane] = value_[source_[lane]];
    forget_offers();
    next_ = 0;
  }
  unsigned received(int lane) const { return received_[static_cast<std::size_t>(lane)]; }
  void forget_offers() {
    offered_ = 0;
    offering_ = 0;
  }

 private:
  std::array<std::uint8_t, warp_lanes> order_{};
  std::array<std::uint8_t, warp_lanes> source_{};
  std::array<unsigned, warp_lanes> value_{};
  // Apart from value_: a lane that goes on early must not disturb what a later one still reads.
  std::array<unsigned, warp_lanes> received_{};
  int next_ = warp_lanes;
  int offered_ = 0;
  std::uint32_t offering_ = 0;  // one bit per lane
};

}  // namespace normd
