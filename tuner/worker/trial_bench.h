// TrialBench: what the trial worker holds while one key is tuned: the device, the checker, the
// workloads, one stopwatch per measured edge, and the candidates loaded so far by number.
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
#include "tuner/measured_edge.h"
#include "tuner/worker/gate.h"
#include "tuner/worker/stopwatch.h"

namespace normd {

class TrialBench {
 public:
  static Result<std::unique_ptr<TrialBench>> open(std::string_view device_name,
                                                  const std::string& turn_directory);

  // Drops everything of the problem before and lays out this one's buffers. resource_exhausted:
  // they would take more than limits::tuning_memory_bytes_max.
  Result<void> prepare(const Problem& problem, const std::vector<MeasuredEdge>& edges, Grade grade);

  struct Tried {
    Verdict verdict;
    KernelResources resources;
    int sightings = 1;  // processes that gave this verdict
  };
  // Loads a candidate under `number` and, unless it passed earlier, sends it through the gate. A
  // refused one is dropped again.
  Tried try_candidate(int number, const Candidate& candidate, const Binary& binary,
                      const Launch& launch, bool passed_before);

  struct Samples {
    std::vector<double> ns;     // for each number, in order
    DeviceCondition condition;  // of the device meanwhile
  };
  // One sample of each number at measured edge number `edge`; -1 stands for the control copy.
  Result<Samples> sample(const std::vector<int>& numbers, std::size_t edge);
  void drop(int number);
  void rest() { clear(); }  // frees every buffer and candidate
  Device& device() { return *device_; }

 private:
  TrialBench(std::unique_ptr<Device> device, DeviceTurn turn, ByteComparer comparer)
      : device_(std::move(device)), turn_(std::move(turn)), comparer_(std::move(comparer)) {}
  // Its launches all share the workspace, in the gate and under the clock.
  struct LoadedCandidate {
    std::unique_ptr<Kernel> kernel;
    std::optional<GuardedMemory> workspace;  // where the launch needs one

    void* workspace_address() const { return workspace ? workspace->address() : nullptr; }
  };

  void clear();
  Result<double> sample_ns(int number, std::size_t edge);
  Result<void> prepare_far_rows();  // where rows are strided and the device can
  Result<LoadedCandidate> load(const Binary& binary, const Launch& launch);
  Verdict pass_gate(const Candidate& candidate, const LoadedCandidate& loaded,
                    Kernel* on_few_blocks);

  std::unique_ptr<Device> device_;
  DeviceTurn turn_;
  ByteComparer comparer_;
  std::unique_ptr<Kernel> checker_;
  // In this order: stopwatches hold sequences of kernels, so they go first.
  std::optional<Workload> kinds_, sized_;
  std::optional<FarRows> far_;     // rows of kinds_
  bool far_rows_missing_ = false;  // this device has none, which was said
  std::map<int, LoadedCandidate> candidates_;
  std::optional<CacheSweep> sweep_;
  std::vector<Stopwatch> stopwatches_;  // one per edge
  std::vector<std::int64_t> rows_;      // of the edges, each once
  Problem problem_;
  Grade grade_ = Grade::exact;
};

// Bytes of device memory that prepare() takes at most, but for guards, parameters and a copy of
// the tile that x is filled with, a few megabytes.
double bench_bytes(const Problem& problem, const std::vector<MeasuredEdge>& edges,
                   const DeviceSpec& spec);

}  // namespace normd
