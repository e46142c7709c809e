#include "tuner/worker/guarded_input.h"

#include <algorithm>

#include "kernels/check.h"

namespace normd {
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
  // Anew each time: the next tile may be longer.
  tile_copy_.reset();
  auto copy = device_->allocate(done);
  if (!copy) return fail(std::move(copy.error()));
  tile_copy_ = std::move(*copy);
  for (void* to : {static_cast<void*>(begin), tile_copy_->address()}) {
    if (auto copied = device_->copy_in(to, tile_.data(), done); !copied) return copied;
  }
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

Result<bool> GuardedInput::holds(ByteComparer& comparer) const {
  const auto difference = comparer.difference_from_tiles(address(), bytes(), tile_copy_->address(),
                                                         std::min(tile_.size(), bytes()));
  if (!difference) return fail(difference.error());
  return !difference->has_value();
}

}  // namespace normd
