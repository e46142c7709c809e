#include "tuner/worker/guarded_memory.h"

#include <algorithm>
#include <vector>

#include "kernels/check.h"

namespace normd {
namespace {

// One vector or one row past the end lands in here; kilobytes cover strides of narrow rows.
constexpr std::size_t guard_bytes = 4096;
constexpr unsigned char guard_byte = 0xa5;

}  // namespace

Result<GuardedMemory> GuardedMemory::make(Device& device, std::size_t bytes, int align_bytes) {
  NORMD_CHECK(align_bytes >= 1 && align_bytes <= 64);
  GuardedMemory guarded;
  // Memory is aligned to 256; adding align_bytes makes the address an odd multiple of it.
  guarded.before_bytes_ = guard_bytes + static_cast<std::size_t>(align_bytes);
  guarded.after_bytes_ = guard_bytes;
  auto memory = device.allocate(guarded.before_bytes_ + bytes + guarded.after_bytes_);
  if (!memory) return fail(std::move(memory.error()));
  guarded.device_ = &device;
  guarded.memory_ = std::move(*memory);
  guarded.address_ = static_cast<char*>(guarded.memory_->address()) + guarded.before_bytes_;
  guarded.bytes_ = bytes;
  if (auto armed = guarded.arm(); !armed) return fail(std::move(armed.error()));
  return guarded;
}

Result<void> GuardedMemory::arm() {
  if (auto filled = device_->fill(memory_->address(), guard_byte, before_bytes_); !filled) {
    return filled;
  }
  return device_->fill(address_ + bytes_, guard_byte, after_bytes_);
}

Result<bool> GuardedMemory::intact() const {
  std::vector<unsigned char> guards(before_bytes_ + after_bytes_);
  if (auto copied = device_->copy_out(guards.data(), memory_->address(), before_bytes_); !copied) {
    return fail(std::move(copied.error()));
  }
  if (auto copied =
          device_->copy_out(guards.data() + before_bytes_, address_ + bytes_, after_bytes_);
      !copied) {
    return fail(std::move(copied.error()));
  }
  return std::all_of(guards.begin(), guards.end(), [](unsigned char b) { return b == guard_byte; });
}

}  // namespace normd
