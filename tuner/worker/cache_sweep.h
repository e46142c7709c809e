// CacheSweep: reads twice L2 of other memory, so that nothing of what is timed next lies there, and
// nothing waits to be written back. The memory is taken when it is first needed. Belongs to its
// Device's thread.
#pragma once

#include <memory>

#include "tuner/worker/byte_comparer.h"

namespace normd {

class CacheSweep {
 public:
  CacheSweep(Device& device, ByteComparer& comparer) : device_(&device), comparer_(&comparer) {}
  Result<void> run();  // on a device that says how large its cache is

 private:
  Result<void> take_memory();

  Device* device_;
  ByteComparer* comparer_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace normd
