// CacheSweep: reads twice L2 of other memory, so that nothing of what is timed next lies there, and
// nothing waits to be written back. Belongs to its Device's thread.
#pragma once

#include <memory>

#include "tuner/worker/byte_comparer.h"

namespace normd {

class CacheSweep {
 public:
  // A device that does not say how large its cache is has nothing swept.
  static Result<CacheSweep> make(Device& device, ByteComparer& comparer);
  Result<void> run();

 private:
  explicit CacheSweep(ByteComparer& comparer) : comparer_(&comparer) {}

  ByteComparer* comparer_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace normd
