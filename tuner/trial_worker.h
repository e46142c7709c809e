// TrialWorker: the tuner's view of the one process that runs candidates on a device. When that
// process dies or hangs, the candidate it was busy with is to blame and is refused; a new process
// is started and the candidates that had passed are loaded again. One thread.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/limits.h"
#include "tuner/worker/trial_bench.h"
#include "tuner/worker/worker_process.h"

namespace normd {

// Whether a call ended with the worker's process: it died, or was ended for its silence.
bool process_lost(const Error& error);

class TrialWorker {
 public:
  // `limit` is the wall time of one answer; longer means hung. Calls that name another use that.
  TrialWorker(WorkerCommand command, std::string device, std::string turn_directory,
              std::chrono::milliseconds limit = std::chrono::milliseconds(limits::trial_ms_max));

  // Starts the process if there is none. Errors say why the device cannot be used.
  Result<void> prepare(const Problem& problem, const std::vector<MeasuredEdge>& edges, Grade grade);

  struct Loaded {
    Candidate candidate;
    Binary binary;
    Launch launch;
    bool passed_before = false;  // the gate's result is stored already
  };
  // A process that died or hung is a refusal (fault, timeout) of this candidate. One for wrong
  // bytes is looked at again in a new process; what passes there was wrong once and stays refused,
  // with one sighting.
  Result<TrialBench::Tried> try_candidate(int number, Loaded loaded,
                                          std::optional<std::chrono::milliseconds> limit = {});

  // One sample per number, and the device's condition meanwhile. unavailable or deadline_exceeded:
  // the process died or hung and a new one is ready; with a single number asked for, that candidate
  // is to blame.
  Result<TrialBench::Samples> sample(const std::vector<int>& numbers, std::size_t edge,
                                     std::optional<std::chrono::milliseconds> limit = {});

  // From any thread: ends the process, whatever it is doing, so that the call under way fails at
  // once as `unavailable` and blames no candidate. prepare() begins anew.
  void stop();

  void drop(int number);
  void rest();  // frees the device memory of the last problem; the process stays for the next one
  int restarts() const { return restarts_; }

 private:
  Result<void> start();
  Result<Frame> ask(const Frame& request, std::chrono::milliseconds limit);
  Result<TrialBench::Tried> try_once(int number, const Loaded& loaded,
                                     std::optional<std::chrono::milliseconds> limit);
  Result<void> recover();
  Result<void> renew();
  Frame trial_frame(int number, const Loaded& loaded, bool passed) const;

  WorkerCommand command_;
  bool started_before_ = false;
  std::string device_;
  std::string turn_directory_;
  std::chrono::milliseconds limit_;
  std::optional<WorkerProcess> process_;
  std::optional<Frame> prepared_;
  std::map<int, Loaded> loaded_;
  std::atomic<int> pid_ = -1;
  std::atomic<bool> stopped_ = false;
  int restarts_ = 0;
  int deaths_ = 0;  // on the prepared problem
};

}  // namespace normd
