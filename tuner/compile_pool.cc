#include "tuner/compile_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "kernels/check.h"
#include "kernels/limits.h"
#include "tuner/compiler/temporary_directory.h"
#include "tuner/worker/messages.h"
#include "tuner/worker/worker_process.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// A compilation that nobody waits for any more may finish, or its worker would be started anew for
// nothing; after this long it only stands in the way of the next batch.
constexpr auto unseen_max = std::chrono::seconds(2);

}  // namespace

struct CompilePool::State {
  struct Asked {
    std::uint64_t generation;
    int number;
    Source source;
  };
  // One thread's worker process, as the others see it.
  struct Hand {
    std::atomic<int> pid = -1;  // of the process at work; lets whoever stops the pool end it
    bool busy = false;          // guarded by the state's mutex, like the rest
    std::uint64_t generation = 0;
    Clock::time_point since;
  };

  WorkerCommand command;
  std::atomic<bool> begun_before = false;  // a compilation
  mutable std::mutex mutex;
  std::condition_variable_any asked_or_stopping;
  std::condition_variable ready;
  std::deque<Asked> asked;  // guarded by mutex, like all below
  std::deque<Compiled> finished;
  std::uint64_t generation = 0;  // of the batch that is open; results of an earlier one are dropped
  int outstanding = 0;
  std::deque<Hand> hands;
  std::atomic<int> restarts = 0;
  std::atomic<int> asking_pid = -1;
  std::optional<WorkerProcess> asking;  // for compiler(); the pool's user only
  std::vector<std::jthread> threads;

  // One worker process, started when first needed and again after it died.
  Result<Frame> ask(std::optional<WorkerProcess>& worker, const Frame& request, bool first,
                    std::atomic<int>& pid, const std::stop_token& stop = {}) {
    if (!worker || !worker->alive()) {
      if (worker) ++restarts;
      auto started = WorkerProcess::start(command.words_of(first));
      if (!started) return fail(std::move(started.error()));
      worker.emplace(std::move(*started));
    }
    pid = worker->pid();
    // Whoever stopped the pool a moment ago saw no process to end.
    if (stop.stop_requested()) worker->kill();
    auto answer = worker->ask(request, std::chrono::milliseconds(limits::compile_ms_max));
    pid = -1;
    return answer;
  }

  // A process that had answered before may have been killed while it had nothing to do, which says
  // nothing of the source: a fresh one is asked, unless nobody waits for the answer any more.
  Result<Binary> ask_for_binary(std::optional<WorkerProcess>& worker, const Asked& job, Hand& hand,
                                const std::stop_token& stop) {
    const Frame request = frame_of(job.source);
    const bool answered_before = worker && worker->alive();
    auto answer = ask(worker, request, !begun_before.exchange(true), hand.pid, stop);
    if (!answer && answered_before && answer.error().code == ErrorCode::unavailable &&
        !stop.stop_requested() && is_awaited(job)) {
      answer = ask(worker, request, false, hand.pid, stop);
    }
    answer = expect(std::move(answer), "binary");
    if (!answer) return fail(std::move(answer.error()));
    return binary_of(*answer);
  }

  bool is_awaited(const Asked& job) const {
    const std::lock_guard lock(mutex);
    return job.generation == generation;
  }

  void serve(std::stop_token stop, Hand& hand) {
    std::optional<WorkerProcess> worker;
    while (true) {
      std::unique_lock lock(mutex);
      if (!asked_or_stopping.wait(lock, stop, [&] { return !asked.empty(); })) return;
      if (stop.stop_requested()) return;
      Asked job = std::move(asked.front());
      asked.pop_front();
      hand.busy = true;
      hand.generation = job.generation;
      hand.since = Clock::now();
      lock.unlock();
      // A stop must not wait for a compiler that takes a minute.
      const std::stop_callback end(stop, [&] {
        if (hand.pid > 0) ::kill(hand.pid, SIGKILL);
      });
      auto binary = ask_for_binary(worker, job, hand, stop);
      lock.lock();
      hand.busy = false;
      if (job.generation == generation) {
        finished.push_back(Compiled{job.number, std::move(binary)});
        ready.notify_all();
      }
    }
  }

  // With the lock held: frees the workers that an earlier batch left with an endless compilation.
  void end_unseen() {
    for (const Hand& hand : hands) {
      const bool unseen = hand.busy && hand.generation != generation;
      if (unseen && hand.pid > 0 && Clock::now() - hand.since > unseen_max) {
        ::kill(hand.pid, SIGKILL);
      }
    }
  }

  // With the lock held.
  void drop_all() {
    ++generation;
    asked.clear();
    finished.clear();
    outstanding = 0;
  }
};

int default_compile_workers() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 2, 2, 14);
}

CompilePool::CompilePool(WorkerCommand worker_command, int workers)
    : state_(std::make_unique<State>()) {
  state_->command = std::move(worker_command);
  for (int i = 0; i < workers; ++i) state_->hands.emplace_back();
  for (State::Hand& hand : state_->hands) {
    state_->threads.emplace_back(
        [state = state_.get(), &hand](std::stop_token stop) { state->serve(stop, hand); });
  }
}

CompilePool::~CompilePool() {
  for (std::jthread& thread : state_->threads) thread.request_stop();
  state_->threads.clear();
  TemporaryDirectory::sweep();  // workers that were ended at work cleaned up nothing
}

CompilePool::Batch CompilePool::begin() {
  const std::lock_guard lock(state_->mutex);
  state_->drop_all();
  return {*state_, state_->generation};
}

void CompilePool::Batch::submit(int number, Source source) {
  {
    const std::lock_guard lock(state_.mutex);
    NORMD_CHECK(state_.generation == generation_);
    state_.asked.push_back({generation_, number, std::move(source)});
    ++state_.outstanding;
  }
  state_.asked_or_stopping.notify_one();
}

std::optional<CompilePool::Compiled> CompilePool::Batch::next(Clock::time_point until) {
  std::unique_lock lock(state_.mutex);
  if (state_.generation != generation_ || state_.outstanding == 0) return std::nullopt;
  state_.end_unseen();
  if (!state_.ready.wait_until(lock, until, [&] { return !state_.finished.empty(); }))
    return std::nullopt;
  Compiled compiled = std::move(state_.finished.front());
  state_.finished.pop_front();
  --state_.outstanding;
  return compiled;
}

int CompilePool::Batch::outstanding() const {
  const std::lock_guard lock(state_.mutex);
  return state_.generation == generation_ ? state_.outstanding : 0;
}

void CompilePool::Batch::abandon() {
  const std::lock_guard lock(state_.mutex);
  if (state_.generation == generation_) state_.drop_all();
}

Result<std::string> CompilePool::compiler(const std::string& target) {
  const Frame question{.verb = "compiler", .fields = {{"target", target}}, .body = {}};
  const bool asked_before = state_->asking.has_value();
  auto answer =
      expect(state_->ask(state_->asking, question, false, state_->asking_pid), "compiler");
  if (!answer && asked_before && answer.error().code == ErrorCode::unavailable) {
    // A process that was killed while it had nothing to do says nothing of the compiler.
    answer = expect(state_->ask(state_->asking, question, false, state_->asking_pid), "compiler");
  }
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
