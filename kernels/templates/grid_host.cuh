// The host body of grid.cuh: whoever waits lets the other fibres run, those of other blocks too.
#pragma once

namespace normd {

NORMD_DEVICE void post(Posted* place, const Posted& posted) {
  *place = posted;
}

NORMD_DEVICE bool was_posted(const void* place, unsigned tag) {
  return static_cast<const Posted*>(place)->tag == tag;
}

template <int count, int held>
NORMD_DEVICE void take_posted(const Posted* from, unsigned tag, Posted (&taken)[held]) {
  for (int i = 0; i < held; ++i) {
    const int place = thread_index() % warp_lanes + i * warp_lanes;
    if (place >= count) continue;
    host_runtime->wait_until(&was_posted, from + place, tag);
    taken[i] = from[place];
  }
}

NORMD_DEVICE unsigned long long count_up(unsigned long long* place, unsigned long long by) {
  return __atomic_fetch_add(place, by, __ATOMIC_RELAXED);
}

NORMD_DEVICE unsigned load_left(const unsigned* place) {
  return *place;
}
NORMD_DEVICE void leave_to_next(unsigned* place, unsigned value) {
  *place = value;
}
NORMD_DEVICE void leave_to_next(unsigned long long* place, unsigned long long value) {
  *place = value;
}

}  // namespace normd
