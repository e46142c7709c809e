// TuningQueue: one per device. It gives each distinct key one tuning however many ask (single
// flight), in the order of arrival, fair between clients, on a thread of its own. Waiting holds no
// thread: a waiter is a callback in the entry. What no client asked for waits behind all that one
// did, and makes way when one comes. Safe from any thread; callbacks run on the queue's thread,
// must be short and must not call back into the queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "tuner/tuner.h"

namespace normd {

struct Waiter {
  std::function<void(const TuneProgress&)> progress;    // may be empty
  std::function<void(const Result<Tuning>&)> finished;  // exactly once, unless removed
};

enum class Joined : std::uint8_t { started = 1, joined = 2 };

class TuningQueue {
 public:
  using WaiterId = std::uint64_t;
  struct Ticket {
    Joined joined = Joined::started;  // whether this call caused the tuning or joined one
    WaiterId waiter = 0;
  };

  // `tune` is Tuner::tune_unless_elsewhere, or a fault in tests: on none the flight goes back into
  // the queue, and others are taken meanwhile. `queue_max` bounds distinct keys, those in the
  // background apart.
  using TuneFunction = std::function<Result<std::optional<Tuning>>(
      const TuneRequest&, const std::function<void(const TuneProgress&)>&, std::stop_token)>;
  TuningQueue(TuneFunction tune, int queue_max);
  ~TuningQueue();  // stops the running tuning; every waiter left gets `unavailable`

  // The client of a tuning in the background: it is begun when no client's is left, stopped and put
  // back when one comes, and a client's own as soon as one joins it.
  static constexpr std::string_view background = "(background)";  // no peer is called so

  // `key_text` names the flight; `client` is who asks, for fairness. resource_exhausted when full.
  Result<Ticket> submit(const std::string& key_text, const TuneRequest& request,
                        const std::string& client, Waiter waiter);

  // Forgets the waiter: its callbacks will not run after this returns. The tuning goes on.
  void remove(WaiterId waiter);

  // Work of another sort for the queue's thread. True: it was idle, and runs `work` now, whose
  // token is stopped as soon as anything is submitted; it must heed that within a moment.
  using Work = std::function<void(std::stop_token)>;
  bool run_if_idle(Work work);

  struct Depth {
    int queued = 0;
    int in_background = 0;  // of those queued
    int running = 0;
    int waiters = 0;
  };
  Depth depth() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace normd
