#include "tuner/worker/guarded_input.h"

#include <algorithm>
#include <cstring>

#include "kernels/check.h"

namespace normd {
namespace {

// A copy of so much costs a GPU little more than a smaller one.
constexpr std::size_t window_bytes = std::size_t{256} << 10;

}  // namespace

Result<GuardedInput> GuardedInput::make(Device& device, std::size_t bytes, int align_bytes) {
  auto memory = GuardedMemory::make(device, bytes, align_bytes);
  if (!memory) return fail(std::move(memory.error()));
  return GuardedInput(device, std::move(*memory));
}

Result<void> GuardedInput::fill(std::vector<char> tile) {
  NORMD_CHECK(!tile.empty());
  tile_ = std::move(tile);
  // The tile to the beginning; then what is there is doubled until the memory is full.
  const std::size_t total = bytes();
  char* begin = static_cast<char*>(address());
  std::size_t done = std::min(tile_.size(), total);
  if (auto copied = device_->copy_in(begin, tile_.data(), done); !copied) return copied;
  while (done < total) {
    const std::size_t more = std::min(done, total - done);
    if (auto copied = device_->copy_within(begin + done, begin, more); !copied) return copied;
    done += more;
  }
  return {};
}

Result<void> GuardedInput::restore() {
  if (auto filled = fill(std::move(tile_)); !filled) return filled;
  return memory_.arm();
}

bool GuardedInput::is_tiled(const std::vector<char>& window, std::size_t at) const {
  for (std::size_t seen = 0; seen < window.size();) {
    const std::size_t phase = (at + seen) % tile_.size();
    const std::size_t count = std::min(window.size() - seen, tile_.size() - phase);
    if (std::memcmp(window.data() + seen, tile_.data() + phase, count) != 0) return false;
    seen += count;
  }
  return true;
}

Result<bool> GuardedInput::holds(std::size_t bytes_max) const {
  const std::size_t windows = (bytes() + window_bytes - 1) / window_bytes;
  const std::size_t looked_at = std::clamp<std::size_t>(bytes_max / window_bytes, 2, windows + 1);
  std::vector<char> window;
  for (std::size_t i = 0; i < std::min(looked_at, windows); ++i) {
    // All of them, or the first, the last and those between at equal distances.
    const std::size_t number = looked_at >= windows ? i : i * (windows - 1) / (looked_at - 1);
    const std::size_t at = number * window_bytes;
    window.resize(std::min(window_bytes, bytes() - at));
    const char* from = static_cast<const char*>(address()) + at;
    if (auto copied = device_->copy_out(window.data(), from, window.size()); !copied) {
      return fail(std::move(copied.error()));
    }
    if (!is_tiled(window, at)) return false;
  }
  return true;
}

}  // namespace normd
