// Device memory and pinned host memory as Memory. Each belongs to its device's thread and frees
// itself within its context.
#pragma once

#include <memory>

#include "kernels/error.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/device.h"

namespace normd {

Result<std::unique_ptr<Memory>> allocate_cuda_memory(std::shared_ptr<const CudaContext> context,
                                                     std::size_t bytes);
Result<std::unique_ptr<Memory>> allocate_pinned_memory(std::shared_ptr<const CudaContext> context,
                                                       std::size_t bytes);

// Device addresses are numbers to the driver and pointers to everyone else.
inline CUdeviceptr device_address(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

}  // namespace normd
