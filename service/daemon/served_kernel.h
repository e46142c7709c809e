// ServedKernel: a kernel that is loaded for serving, with the texts that answers carry. The texts
// are constant and for any thread, as is the count; the rest belongs to the serving thread of its
// device alone. The last owner may let go on any thread: the serving thread unloads
// (ServingThread).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tuner/device/device.h"
#include "tuner/trial.h"

namespace normd {

// What a kernel is loaded from.
struct LoadOrder {
  Binary binary;
  Launch launch;
  std::string candidate;  // canonical text
  std::string key;        // canonical text; empty for the fallback, which serves every key
  bool fallback = false;
};

struct ServedKernel {
  std::string candidate;
  std::string key;
  std::string binary_digest;
  bool fallback = false;

  std::atomic<std::int64_t> uses = 0;  // launches for requests, whether they went well or not
  std::uint64_t noted_in_round = 0;    // when the serving thread last said that it is in use
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Memory> workspace;  // grows with the rows that the launch needs it for
};

using ServedKernelPointer = std::shared_ptr<ServedKernel>;

}  // namespace normd
