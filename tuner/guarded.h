// Guarded<State>: shared state together with its one mutex, so that the state cannot be reached
// without holding it. Any thread may call lock(). Hold the Access for a moment only: never over a
// compile, a launch or a wait for anything but wait() itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace normd {

template <typename State>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(State state) : state_(std::move(state)) {}
  // A copy or a move would leave two mutexes for one state, or waiters on a dead one.
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // The right to touch the state, until it is destroyed.
  class Access {
   public:
    State& operator*() const { return guarded_.state_; }
    State* operator->() const { return &guarded_.state_; }

    // Lets go while waiting, until ready() holds; it is asked with the lock held.
    template <typename Ready>
    void wait(std::condition_variable_any& changed, Ready ready) {
      changed.wait(lock_, std::move(ready));
    }

    // As above; false if a stop was asked for first.
    template <typename Ready>
    bool wait(std::condition_variable_any& changed, std::stop_token stop, Ready ready) {
      return changed.wait(lock_, std::move(stop), std::move(ready));
    }

    // As above; false if a stop was asked for or the time ran out first.
    template <typename Ready>
    bool wait_until(std::condition_variable_any& changed, std::stop_token stop,
                    std::chrono::steady_clock::time_point deadline, Ready ready) {
      return changed.wait_until(lock_, std::move(stop), deadline, std::move(ready));
    }

   private:
    friend class Guarded;
    explicit Access(Guarded& guarded) : guarded_(guarded), lock_(guarded.mutex_) {}
    Access(Guarded& guarded, std::unique_lock<std::mutex> lock)
        : guarded_(guarded), lock_(std::move(lock)) {}

    Guarded& guarded_;
    std::unique_lock<std::mutex> lock_;
  };

  Access lock() { return Access(*this); }
  // None: another thread has it.
  std::optional<Access> try_lock() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return std::nullopt;
    return Access(*this, std::move(lock));
  }

 private:
  std::mutex mutex_;
  State state_;
};

}  // namespace normd
