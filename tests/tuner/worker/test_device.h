// The device that these tests are built for: NORMD_TEST_DEVICE is "host", or "0" for the first GPU.
// On a machine without it the program ends with 77, which CTest shows as skipped.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kernels/device_spec.h"
#include "tuner/device/open_device.h"

namespace normd {

inline constexpr std::string_view test_device = NORMD_TEST_DEVICE;

inline const DeviceSpec& test_device_spec() {
  static const DeviceSpec spec = [] {
    if (test_device == "host") return host_device_spec();
    const auto gpus = list_gpus();
    if (gpus && !gpus->empty()) return gpus->front().spec;
    std::printf("skipped: %s\n", gpus ? "no GPU is visible" : gpus.error().message.c_str());
    std::exit(77);
  }();
  return spec;
}

}  // namespace normd
