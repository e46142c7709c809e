// Management libraries of before: one that has the reasons for a clock by their older name alone,
// and with FAKE_OLDEST one that tells neither clocks of now nor reasons. They answer the same
// always.

extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned) {
  *text = 0;
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char*, void** device) {
  *device = nullptr;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 300'000;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* megahertz) {
  *megahertz = 1500;
  return 0;
}
#ifndef FAKE_OLDEST
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1200 : 800;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x20;
  return 0;
}
#endif

}  // extern "C"
