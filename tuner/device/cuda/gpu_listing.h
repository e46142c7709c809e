// From the driver's attributes to DeviceSpec and DeviceIdentity, without creating a context.
// Pure functions over an open driver; any thread.
#pragma once

#include <string>
#include <vector>

#include "kernels/error.h"
#include "tuner/device/cuda/driver.h"
#include "tuner/device/cuda/management.h"
#include "tuner/device/open_device.h"

namespace normd {

// All GPUs that the driver shows, in its order.
Result<std::vector<DeviceListing>> list_driver_gpus(const Driver& driver,
                                                    const Management& management);

// "GPU-5b1f…-…" from the 16 bytes, or "MIG-…".
std::string uuid_text(const CUuuid& uuid, bool mig);

}  // namespace normd
