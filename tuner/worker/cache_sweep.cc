#include "tuner/worker/cache_sweep.h"

namespace normd {

Result<CacheSweep> CacheSweep::make(Device& device, ByteComparer& comparer) {
  CacheSweep sweep(comparer);
  const auto bytes = static_cast<std::size_t>(2 * device.spec().l2_bytes);
  if (bytes == 0) return sweep;
  auto memory = device.allocate(bytes);
  if (!memory) return fail(std::move(memory.error()));
  if (auto zeroed = device.fill((*memory)->address(), 0, bytes); !zeroed) {
    return fail(std::move(zeroed.error()));
  }
  sweep.memory_ = std::move(*memory);
  return sweep;
}

// Comparing one half with the other reads both; what comes of it is nobody's concern.
Result<void> CacheSweep::run() {
  if (memory_ == nullptr) return {};
  const std::size_t half = memory_->bytes() / 32 * 16;
  const char* begin = static_cast<const char*>(memory_->address());
  const auto read = comparer_->difference({begin, 1, half, 0}, {begin + half, 1, half, 0});
  if (!read) return fail(read.error());
  return {};
}

}  // namespace normd
