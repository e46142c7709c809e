// GuardedInput: guarded device memory that a kernel may only read, filled with a tile of bytes
// again and again, and the knowledge of what it must still hold. Belongs to its Device's thread.
#pragma once

#include <vector>

#include "tuner/worker/byte_comparer.h"
#include "tuner/worker/guarded_memory.h"

namespace normd {

class GuardedInput {
 public:
  // `align_bytes` as in GuardedMemory. Not filled yet.
  static Result<GuardedInput> make(Device& device, std::size_t bytes, int align_bytes);

  void* address() const { return memory_.address(); }
  std::size_t bytes() const { return memory_.bytes(); }

  // `tile` over and over, up to the end; a tile that is longer than the memory is cut.
  Result<void> fill(std::vector<char> tile);
  // The tiles once more, and the guards, whatever somebody wrote over them.
  Result<void> restore();

  Result<bool> guards_intact() const { return memory_.intact(); }
  // Looks at every byte, beside a copy of the tile that lies elsewhere in device memory. Who writes
  // over that as well is found out, unless with the very same bytes in the same places.
  Result<bool> holds(ByteComparer& comparer) const;

 private:
  GuardedInput(Device& device, GuardedMemory memory)
      : device_(&device), memory_(std::move(memory)) {}

  Device* device_;
  GuardedMemory memory_;
  std::vector<char> tile_;
  std::unique_ptr<Memory> tile_copy_;
};

}  // namespace normd
