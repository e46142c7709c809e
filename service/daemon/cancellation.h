// Cancellation: how a call that waits is told that its caller has gone. The waiting side says once
// how to leave; whoever cancels runs that, or has it run as soon as it is known. Any thread.
#pragma once

#include <functional>
#include <utility>

#include "tuner/guarded.h"

namespace normd {

class Cancellation {
 public:
  // From here on cancel() runs `leave`; at once if it was called already.
  void on_cancel(std::function<void()> leave) {
    {
      const auto state = state_.lock();
      if (!state->cancelled) {
        state->leave = std::move(leave);
        return;
      }
    }
    leave();
  }

  void cancel() {
    std::function<void()> leave;
    {
      const auto state = state_.lock();
      state->cancelled = true;
      leave.swap(state->leave);
    }
    if (leave) leave();
  }

  bool cancelled() { return state_.lock()->cancelled; }

 private:
  struct State {
    bool cancelled = false;
    std::function<void()> leave;
  };
  Guarded<State> state_;
};

}  // namespace normd
