// GuardedMemory: device memory with guard bytes before and after it, at an address that is aligned
// to exactly what was asked and no better, so that a kernel that assumes more or writes outside is
// found out. Belongs to its Device's thread.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/error.h"
#include "tuner/device/device.h"

namespace normd {

class GuardedMemory {
 public:
  // `align_bytes` is a power of two up to 64. The guards are armed.
  static Result<GuardedMemory> make(Device& device, std::size_t bytes, int align_bytes);

  void* address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  Result<void> arm();           // writes the guards again
  Result<bool> intact() const;  // reads them back

 private:
  GuardedMemory() = default;

  Device* device_ = nullptr;
  std::unique_ptr<Memory> memory_;
  char* address_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t before_bytes_ = 0;
  std::size_t after_bytes_ = 0;
};

}  // namespace normd
