// Memory in few places of a large address space, for the host device: a mapping without rights, in
// which the pages of each stretch are opened. Frees itself; any thread. It is not counted as the
// device's memory, for it is made for a few rows and not for tensors.
#pragma once

#include <memory>
#include <span>

#include "kernels/error.h"
#include "tuner/device/device.h"

namespace normd {

// unimplemented: the process may not have so many addresses.
Result<std::unique_ptr<Memory>> allocate_sparse_memory(std::size_t bytes,
                                                       std::span<const Stretch> stretches);

}  // namespace normd
