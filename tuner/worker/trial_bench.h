// TrialBench: what the trial worker holds while one key is tuned: the device, the checker, the
// workloads, one stopwatch per measured row count, and the candidates loaded so far by number.
// Belongs to its Device's thread; lives in the worker process only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/key.h"
#include "tuner/device/device.h"
#include "tuner/device/device_turn.h"
#include "tuner/worker/gate.h"
#include "tuner/worker/stopwatch.h"

namespace normd {

class TrialBench {
 public:
  static Result<std::unique_ptr<TrialBench>> open(std::string_view device_name,
                                                  const std::string& turn_directory);

  // Drops everything of the problem before and lays out this one's buffers. resource_exhausted:
  // they would take more than limits::tuning_memory_bytes_max.
  Result<void> prepare(const Problem& problem, const std::vector<std::int64_t>& rows, Grade grade);

  struct Tried {
    Verdict verdict;
    KernelResources resources;
    int sightings = 1;  // processes that gave this verdict
  };
  // Loads a candidate under `number` and, unless it passed earlier, sends it through the gate. A
  // refused one is dropped again.
  Tried try_candidate(int number, const Candidate& candidate, const Binary& binary,
                      const Launch& launch, bool passed_before);

  struct Timed {
    double ns = 0;
    CacheState cache = CacheState::cold;
  };
  // One sample at measured row count number `edge`; -1 stands for the control copy.
  Result<Timed> sample(int number, std::size_t edge);
  void drop(int number);
  void rest() { clear(); }  // frees every buffer and candidate
  Device& device() { return *device_; }

 private:
  TrialBench(std::unique_ptr<Device> device, DeviceTurn turn)
      : device_(std::move(device)), turn_(std::move(turn)) {}
  // Its launches all share the workspace, in the gate and under the clock.
  struct LoadedCandidate {
    std::unique_ptr<Kernel> kernel;
    std::optional<GuardedMemory> workspace;  // where the launch needs one

    void* workspace_address() const { return workspace ? workspace->address() : nullptr; }
  };

  void clear();
  Result<LoadedCandidate> load(const Binary& binary, const Launch& launch);
  Verdict pass_gate(const Candidate& candidate, const LoadedCandidate& loaded,
                    Kernel& on_few_blocks);

  std::unique_ptr<Device> device_;
  DeviceTurn turn_;
  std::unique_ptr<Kernel> checker_;
  // In this order: stopwatches hold sequences of kernels, so they go first.
  std::optional<Workload> kinds_, sized_;
  std::map<int, LoadedCandidate> candidates_;
  std::vector<Stopwatch> stopwatches_;
  std::vector<std::int64_t> rows_;
  Problem problem_;
  Grade grade_ = Grade::exact;
};

// Bytes of device memory that prepare() takes at most, but for guards and parameters.
double bench_bytes(const Problem& problem, const std::vector<std::int64_t>& rows,
                   const DeviceSpec& spec);

}  // namespace normd
