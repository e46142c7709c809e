// The way into this folder: from a GPU's name to a Device, and the list of GPUs. Any thread; each
// Device belongs to the thread that opened it. Listing creates no context on any GPU.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "tuner/device/device.h"
#include "tuner/device/open_device.h"

namespace normd {

// The files that are opened at run time; tests put their own in place.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string management = "libnvidia-ml.so.1";  // may be absent
};

// `name` is an index into the visible GPUs or a UUID. not_found lists what is there.
Result<std::unique_ptr<Device>> open_cuda_device(std::string_view name,
                                                 const CudaLibraries& libraries = {});

Result<std::vector<DeviceListing>> list_cuda_devices(const CudaLibraries& libraries = {});

}  // namespace normd
