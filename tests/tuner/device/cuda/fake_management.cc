// The management library's part of the stand-in (fake_driver.h), without its header: toolkits do
// not always carry nvml.h.
#include <cstring>

#include "tests/tuner/device/cuda/fake_driver.h"

extern "C" {

normd::FakeDriver* normd_fake_driver_state();

int nvmlInit_v2() {
  ++normd_fake_driver_state()->open_handles;
  return normd_fake_driver_state()->answer("nvmlInit");
}
int nvmlShutdown() {
  --normd_fake_driver_state()->open_handles;
  return normd_fake_driver_state()->answer("nvmlShutdown");
}
int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::strncpy(text, "580.95.05", bytes);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char*, void** device) {
  *device = nullptr;
  return normd_fake_driver_state()->answer("nvmlDeviceGetHandleByUUID");
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return normd_fake_driver_state()->answer("nvmlDeviceGetEnforcedPowerLimit");
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1755 : 2600;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* megahertz) {
  const normd::FakeDriver& state = *normd_fake_driver_state();
  *megahertz = clock == 1 ? state.sm_clock_mhz : state.memory_clock_mhz;
  return normd_fake_driver_state()->answer("nvmlDeviceGetClockInfo");
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = normd_fake_driver_state()->clock_reasons;
  return normd_fake_driver_state()->answer("nvmlDeviceGetCurrentClocksEventReasons");
}
// A newer library has the older name too; it is not to be preferred.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0;
  return normd_fake_driver_state()->answer("nvmlDeviceGetCurrentClocksThrottleReasons");
}

}  // extern "C"
