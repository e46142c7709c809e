// WorkerProcess: the parent's end of one `worker` child, which compiles sources and runs trials. A
// candidate can ruin a CUDA context, hang, or crash a compiler; in here that costs one process.
// The child is spawned (not forked), spoken to over a socket pair in frames (frame.h), and ends
// when the parent's end closes. Belongs to one thread; kill() alone may come from any.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/source.h"
#include "tuner/binary.h"
#include "tuner/trial.h"
#include "tuner/worker/frame.h"

namespace normd {

// How to start a worker, again and again.
struct WorkerCommand {
  std::vector<std::string> words;  // the program and its first arguments
  std::vector<std::string>
      first_only;  // more for the first process, not its successors: kill tests

  std::vector<std::string> words_of(bool first) const {
    std::vector<std::string> all = words;
    if (first) all.insert(all.end(), first_only.begin(), first_only.end());
    return all;
  }
};

class WorkerProcess {
 public:
  // `command` is the program and its first arguments, such as {"/usr/bin/normd", "worker"}.
  static Result<WorkerProcess> start(const std::vector<std::string>& command);

  WorkerProcess(WorkerProcess&&) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) noexcept;
  ~WorkerProcess();  // closes the socket, waits a moment, then kills; never leaves a zombie

  // Sends one frame and waits for its answer. deadline_exceeded: no answer in time, and the child
  // is killed; unavailable: the child died. After either the process is of no use: start another.
  Result<Frame> ask(const Frame& request, std::chrono::milliseconds limit);

  bool alive() const;
  int pid() const;
  void kill();

 private:
  struct Child;
  explicit WorkerProcess(std::unique_ptr<Child> child);
  std::unique_ptr<Child> child_;
};

}  // namespace normd
