#include "tuner/compile_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "kernels/limits.h"
#include "tuner/compiler/temporary_directory.h"
#include "tuner/worker/messages.h"
#include "tuner/worker/worker_process.h"

namespace normd {

struct CompilePool::State {
  struct Asked {
    std::uint64_t generation;
    int number;
    Source source;
  };

  WorkerCommand command;
  std::atomic<bool> begun_before = false;  // a compilation
  mutable std::mutex mutex;
  std::condition_variable_any asked_or_stopping;
  std::condition_variable ready;
  std::deque<Asked> asked;  // guarded by mutex, like all below
  std::deque<Compiled> finished;
  std::uint64_t generation = 0;  // results of an earlier one are dropped
  int outstanding = 0;
  std::atomic<int> restarts = 0;
  std::atomic<int> asking_pid = -1;
  std::optional<WorkerProcess> asking;  // for compiler(); the pool's user only
  std::vector<std::jthread> threads;

  // One worker process, started when first needed and again after it died.
  // `pid` lets whoever stops the pool end the process.
  Result<Frame> ask(std::optional<WorkerProcess>& worker, const Frame& request, bool first,
                    std::atomic<int>& pid) {
    if (!worker || !worker->alive()) {
      if (worker) ++restarts;
      auto started = WorkerProcess::start(command.words_of(first));
      if (!started) return fail(std::move(started.error()));
      worker.emplace(std::move(*started));
    }
    pid = worker->pid();
    return worker->ask(request, std::chrono::milliseconds(limits::compile_ms_max));
  }

  void serve(std::stop_token stop) {
    std::optional<WorkerProcess> worker;
    std::atomic<int> pid = -1;  // of the process at work, for whoever stops this thread
    while (true) {
      std::unique_lock lock(mutex);
      if (!asked_or_stopping.wait(lock, stop, [&] { return !asked.empty(); })) return;
      if (stop.stop_requested()) return;  // what is still asked for is nobody's any more
      Asked job = std::move(asked.front());
      asked.pop_front();
      lock.unlock();
      // A stop must not wait for a compiler that takes a minute.
      const std::stop_callback end(stop, [&] {
        if (pid > 0) ::kill(pid, SIGKILL);
      });
      auto answer =
          expect(ask(worker, frame_of(job.source), !begun_before.exchange(true), pid), "binary");
      pid = -1;
      auto binary = answer ? binary_of(*answer) : Result<Binary>(fail(answer.error()));
      lock.lock();
      if (job.generation == generation) {
        finished.push_back(Compiled{job.number, std::move(binary)});
        ready.notify_all();
      }
    }
  }
};

int default_compile_workers() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 2, 8);
}

CompilePool::CompilePool(WorkerCommand worker_command, int workers)
    : state_(std::make_unique<State>()) {
  state_->command = std::move(worker_command);
  for (int i = 0; i < workers; ++i) {
    state_->threads.emplace_back(
        [state = state_.get()](std::stop_token stop) { state->serve(stop); });
  }
}

CompilePool::~CompilePool() {
  for (std::jthread& thread : state_->threads) thread.request_stop();
  state_->threads.clear();
  TemporaryDirectory::sweep();  // workers that were ended at work cleaned up nothing
}

void CompilePool::submit(int number, Source source) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->asked.push_back({state_->generation, number, std::move(source)});
    ++state_->outstanding;
  }
  state_->asked_or_stopping.notify_one();
}

std::optional<CompilePool::Compiled> CompilePool::next(
    std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(state_->mutex);
  if (state_->outstanding == 0) return std::nullopt;
  if (!state_->ready.wait_until(lock, until, [&] { return !state_->finished.empty(); }))
    return std::nullopt;
  Compiled compiled = std::move(state_->finished.front());
  state_->finished.pop_front();
  --state_->outstanding;
  return compiled;
}

void CompilePool::abandon() {
  const std::lock_guard lock(state_->mutex);
  ++state_->generation;
  state_->asked.clear();
  state_->finished.clear();
  state_->outstanding = 0;
}

int CompilePool::outstanding() const {
  const std::lock_guard lock(state_->mutex);
  return state_->outstanding;
}

Result<std::string> CompilePool::compiler(const std::string& target) {
  const Frame question{.verb = "compiler", .fields = {{"target", target}}, .body = {}};
  auto answer =
      expect(state_->ask(state_->asking, question, false, state_->asking_pid), "compiler");
  if (!answer) {
    state_->asking.reset();  // a library that was repaired is found by a fresh process
    return fail(std::move(answer.error()));
  }
  return answer->field("version");
}

int CompilePool::workers_restarted() const {
  return state_->restarts;
}

}  // namespace normd
