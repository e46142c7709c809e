// From a device's name to a Device. Names: a UUID ("GPU-…", "MIG-…"), an index into the visible
// GPUs ("0"), "host" for the CPU, "host:sm_90" for the CPU within that chip's limits.
// The functions may be called from any thread; each Device belongs to the thread that opened it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "tuner/device/device.h"

namespace normd {

Result<std::unique_ptr<Device>> open_device(std::string_view name);

struct DeviceListing {
  DeviceIdentity identity;
  DeviceSpec spec;
};

// The GPUs this process can see, without creating a context on any. The Error says in words what
// is missing: no driver library, driver too old, no device, none visible.
Result<std::vector<DeviceListing>> list_gpus();

}  // namespace normd
