// TaskThread: one thread that runs short tasks in the order in which they were posted. SQL, file
// I/O and waiting for the device happen on such threads, so that no thread of gRPC ever blocks.
// post() may be called from any thread, a task included. Tasks that are left when the thread stops
// are run, so that every call gets its answer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace normd {

class TaskThread {
 public:
  using Task = std::function<void()>;

  // `idle`, if given, runs about once each `idle_every` on the same thread.
  explicit TaskThread(std::size_t tasks_max, Task idle = {},
                      std::chrono::milliseconds idle_every = std::chrono::seconds(1));
  ~TaskThread();                           // runs what is left, then joins
  TaskThread(const TaskThread&) = delete;  // the thread refers to this object

  // False when `tasks_max` are waiting or the thread is stopping: the task will not run.
  [[nodiscard]] bool post(Task task);

 private:
  void work();

  const std::size_t tasks_max_;
  const Task idle_;
  const std::chrono::milliseconds idle_every_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::jthread thread_;  // last: it starts when everything above is there
};

}  // namespace normd
