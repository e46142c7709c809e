// Memory in few places of a large address space, by the driver's virtual memory management: the
// addresses are reserved as a whole, and each stretch gets physical memory of its own. Belongs to
// its device's thread and frees itself within its context.
#pragma once

#include <memory>
#include <span>

#include "kernels/error.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/device.h"

namespace normd {

Result<std::unique_ptr<Memory>> allocate_sparse_memory(std::shared_ptr<const CudaContext> context,
                                                       std::size_t bytes,
                                                       std::span<const Stretch> stretches);

}  // namespace normd
