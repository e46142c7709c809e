// Whether an answer is right: one launch of the kernel check_rows over it, on the device, and what
// that found, taken together. Belongs to the Device's thread.
#pragma once

#include <cstdint>

#include "kernels/arguments.h"
#include "kernels/check_arguments.h"
#include "kernels/tolerance.h"
#include "tuner/device/device.h"

namespace normd {

// Device memory that check_rows() needs for its records, however many rows there are.
std::size_t check_records_bytes();

// The answer that a kernel left which was launched with `ran`, all of its rows. `checker` is
// check_rows; `records` are for it alone.
Result<CheckRecord> check_rows(Device& device, Kernel& checker, const NormArguments& ran,
                               const Memory& records, const Tolerance& tolerance);

}  // namespace normd
