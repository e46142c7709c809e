#include "tuner/device/host/warp.h"

#include "kernels/check.h"

namespace normd {

void Warp::offer(int lane, unsigned value, int source) {
  NORMD_CHECK(lane >= 0 && lane < warp_lanes && offered_ < warp_lanes);
  value_[static_cast<std::size_t>(lane)] = value;
  source_[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(source & (warp_lanes - 1));
  ++offered_;
}

void Warp::exchange() {
  NORMD_CHECK(offered_ == warp_lanes);
  for (std::size_t lane = 0; lane < warp_lanes; ++lane) received_[lane] = value_[source_[lane]];
  offered_ = 0;
  next_ = 0;
}

}  // namespace normd
