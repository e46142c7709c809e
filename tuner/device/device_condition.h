// DeviceCondition: how a device runs just now, as far as its driver tells: what a measurement is
// recorded with, and by which a bad batch of samples is told. A plain value; any thread.
#pragma once

#include <string>

namespace normd {

struct DeviceCondition {
  int sm_clock_mhz = 0;  // 0: unknown
  int memory_clock_mhz = 0;
  // Why the device runs slower than its load and limits ask for: "hw_slowdown",
  // "hw_thermal_slowdown", "hw_power_brake" or "sw_thermal_slowdown". Empty: it does not, or nobody
  // knows.
  std::string held_back;

  bool operator==(const DeviceCondition&) const = default;
};

// Of a batch of work between two readings: the clocks as the work left them, since a device that
// has nothing to do lowers them; held back where it was at either end.
inline DeviceCondition condition_during(const DeviceCondition& before,
                                        const DeviceCondition& after) {
  DeviceCondition during = after;
  if (during.held_back.empty()) during.held_back = before.held_back;
  return during;
}

}  // namespace normd
