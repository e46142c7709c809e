// Stopwatch: times kernels on one problem at one row count. A sample is a recorded sequence of
// launches over rotated buffer sets: sets of at least twice the L2 cache in all for `cold`, one set
// for `warm`; the sequence is long enough that its clock is fine beside it. A control copy of the
// same bytes is timed the same way. Belongs to its Device's thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/problem.h"
#include "tuner/device/device.h"
#include "tuner/device/device_turn.h"
#include "tuner/trial.h"
#include "tuner/worker/workload.h"

namespace normd {

class Stopwatch {
 public:
  // Allocates the buffer sets, rows lying as in a workload, and fills x from `source`, which holds
  // at least problem.rows rows of the same problem.
  static Result<Stopwatch> make(Device& device, const Problem& problem, CacheState cache,
                                const Workload& source);

  // Nanoseconds of one launch, or of one control copy for a null kernel. Held under the device's
  // turn; the first sample of a kernel is preceded by warm-up runs. `workspace` is the kernel's,
  // the same every time.
  Result<double> sample_ns(Kernel* kernel, void* workspace, DeviceTurn& turn);

  void forget(const Kernel* kernel);  // before the kernel goes
  CacheState cache() const { return cache_; }

 private:
  struct BufferSet {
    std::unique_ptr<Memory> x, y, mean, rstd;
  };
  struct Recorded {
    std::unique_ptr<Sequence> sequence;
    int launches = 0;
  };

  Stopwatch(Device& device, const Problem& problem, CacheState cache)
      : device_(&device), problem_(problem), spans_(buffer_spans(problem)), cache_(cache) {}
  Result<BufferSet> make_set(const Workload& source);
  Result<Recorded> record(Kernel* kernel, void* workspace, int launches);
  NormArguments arguments(int set, void* workspace) const;
  std::size_t x_bytes() const;  // of one set's buffers, gaps between rows included
  std::size_t y_bytes() const;
  std::size_t copy_bytes() const;  // of the control copy

  Device* device_;
  Problem problem_;
  BufferSpans spans_;
  CacheState cache_;
  std::unique_ptr<Memory> gamma_, beta_;
  std::vector<BufferSet> sets_;
  int launches_ = 0;  // of one sample; found from the control copy
  std::map<const Kernel*, Recorded> recorded_;
};

// The state that decides for a problem: what fits in half the L2 cache comes warm from the kernel
// before it in any real model; what does not comes cold.
CacheState ranking_cache_state(const Problem& problem, const DeviceSpec& spec);

}  // namespace normd
