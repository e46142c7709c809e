#include "service/daemon/task_thread.h"

#include <chrono>
#include <utility>

namespace normd {

TaskThread::TaskThread(std::size_t tasks_max, Task idle, std::chrono::milliseconds idle_every)
    : tasks_max_(tasks_max),
      idle_(std::move(idle)),
      idle_every_(idle_every),
      thread_([this] { work(); }) {}

TaskThread::~TaskThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

bool TaskThread::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || tasks_.size() >= tasks_max_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void TaskThread::work() {
  auto idle_at = std::chrono::steady_clock::now() + idle_every_;
  std::unique_lock lock(mutex_);
  while (!stopping_ || !tasks_.empty()) {
    if (tasks_.empty()) changed_.wait_until(lock, idle_at);
    if (!tasks_.empty()) {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
    if (idle_ && !stopping_ && std::chrono::steady_clock::now() >= idle_at) {
      lock.unlock();
      idle_();
      lock.lock();
      idle_at = std::chrono::steady_clock::now() + idle_every_;
    } else if (!idle_) {
      idle_at = std::chrono::steady_clock::now() + idle_every_;
    }
  }
}

}  // namespace normd
