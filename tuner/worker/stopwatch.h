// Stopwatch: times kernels on one problem at one row count. A sample is a recorded sequence of
// launches over rotated buffer sets; the sequence is long enough that its clock is fine beside it.
// For `warm` there is one set. For `cold` there are sets of twice the L2 cache in all, or where the
// problem is too small for that, one for each launch, and the cache is swept before each sample. A
// control copy of the same bytes is timed the same way. Belongs to its Device's thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/problem.h"
#include "tuner/device/device.h"
#include "tuner/device/device_turn.h"
#include "tuner/trial.h"
#include "tuner/worker/cache_sweep.h"
#include "tuner/worker/workload.h"

namespace normd {

class Stopwatch {
 public:
  // Allocates the buffer sets, rows lying as in a workload, and fills x from `source`, which holds
  // at least problem.rows rows of the same problem.
  // `sweep` outlives it.
  static Result<Stopwatch> make(Device& device, CacheSweep& sweep, const Problem& problem,
                                CacheState cache, const Workload& source);

  // Nanoseconds of one launch, or of one control copy for a null kernel. Held under the device's
  // turn; the first sample of a kernel is preceded by warm-up runs. `workspace` is the kernel's,
  // the same every time.
  Result<double> sample_ns(Kernel* kernel, void* workspace, DeviceTurn& turn);

  void forget(const Kernel* kernel);  // before the kernel goes

 private:
  // Where the buffers of one set begin within it.
  struct SetPlan {
    std::size_t x, y, mean, rstd, bytes;
  };
  struct Recorded {
    std::unique_ptr<Sequence> sequence;
    int launches = 0;
  };

  Stopwatch(Device& device, CacheSweep& sweep, const Problem& problem, CacheState cache)
      : device_(&device),
        sweep_(&sweep),
        problem_(problem),
        spans_(buffer_spans(problem)),
        cache_(cache),
        plan_(plan_of(problem)) {}
  static SetPlan plan_of(const Problem& problem);
  static int sets_of(const Problem& problem, CacheState cache, const DeviceSpec& spec);
  bool wants_sweep() const;
  Result<void> make_cache(Recorded& recorded);  // as it is to be when a sample begins
  Result<void> make_sets(const Workload& source);
  Result<Recorded> record(Kernel* kernel, void* workspace, int launches);
  NormArguments arguments(int set, void* workspace) const;
  std::size_t x_bytes() const;     // of one set, gaps between rows included
  std::size_t copy_bytes() const;  // of the control copy

  friend double stopwatch_bytes(const Problem&, CacheState, const DeviceSpec&);

  Device* device_;
  CacheSweep* sweep_;
  Problem problem_;
  BufferSpans spans_;
  CacheState cache_;
  SetPlan plan_;
  std::unique_ptr<Memory> gamma_, beta_;
  std::unique_ptr<Memory> buffers_;  // all sets, one after the other
  int sets_ = 1;
  int launches_ = 0;  // of one sample; found from the control copy
  std::map<const Kernel*, Recorded> recorded_;
};

// Bytes of device memory that it takes but for parameters, for deciding before allocating.
double stopwatch_bytes(const Problem& problem, CacheState cache, const DeviceSpec& spec);

}  // namespace normd
