// Tuning without a daemon: this process owns a Tuner, which works on the store directly and has
// worker processes compile and measure. One thread.
#pragma once

#include <functional>

#include "normd/v1/normd.pb.h"
#include "service/cli/session.h"
#include "tuner/device/open_device.h"
#include "tuner/tuner.h"

namespace normd {

// The device that a name (device/open_device.h) stands for; an empty one is the first GPU.
// not_found: there is none; the Error says what is missing and names the host device.
Result<DeviceListing> find_device(const std::string& name);

// The last message of a tuning as the daemon would send it.
Result<v1::TuneResponse> tune_offline(Session& session, const TuneRequest& request,
                                      const std::string& device,
                                      const std::function<void(const v1::TuneProgress&)>& progress);

}  // namespace normd
