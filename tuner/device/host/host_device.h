// The host device: the kernel texts on the CPU. It makes the whole system run, and every
// candidate's arithmetic be tested under sanitizers, where there is no GPU; its times mean nothing
// for one. Everything happens at once on the calling thread: launch() returns when the kernel is
// done. A kernel that crashes or never ends takes the process with it, as it would a GPU's context.
// Each Device belongs to the thread that opened it.
#pragma once

#include <memory>
#include <string_view>

#include "tuner/device/device.h"
#include "tuner/device/host/host_schedule.h"

namespace normd {

// "host", or "host:sm_90" for the CPU within that chip's limits. invalid_argument: no such name.
// A kernel whose threads wait for each other for ever, or for one that has ended, fails its launch
// with ErrorCode::internal and a message that begins with "fault:"; the device is still good.
Result<std::unique_ptr<Device>> open_host_device(std::string_view name, HostSchedule schedule = {});

}  // namespace normd
