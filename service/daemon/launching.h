// Launching: one ServeJob on the device, and the check at start that the fallback computes rightly.
// Functions for the serving thread of the device, which they keep busy until they return.
#pragma once

#include "service/daemon/serve_job.h"
#include "service/daemon/transfer_area.h"
#include "tuner/device/device.h"
#include "tuner/device/device_turn.h"

namespace normd {

// Copies in, launches, waits, copies out. The turn is held around the launch, so that it spoils no
// measurement of a tuning; it is waited for as long as one measuring slice and no longer.
Result<ServeTimes> serve(Device& device, DeviceTurn& turn, TransferArea& area, const ServeJob& job);

// Loads without serving anything. The workspace comes with the first launch.
Result<std::unique_ptr<ServedKernel>> load_kernel(Device& device, const LoadOrder& order);

// Runs the fallback on small problems of every dtype and compares with the float64 reference. The
// Error says which problem and which element.
Result<void> gate_fallback(Device& device, DeviceTurn& turn, TransferArea& area,
                           const ServedKernelPointer& fallback);

}  // namespace normd
