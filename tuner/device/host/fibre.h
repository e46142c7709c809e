// Fibre: a stack of its own and a place to go on from on it, on top of Boost.Context. Stacks end in
// a guard page, and every switch is announced to the sanitizers, which otherwise take another stack
// for a corrupt one. All fibres that switch to each other belong to one thread.
// It uses Boost's bare switch rather than boost::context::fiber, because a fibre of a failed launch
// must be dropped where it stands, without unwinding through a kernel.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>

#include "kernels/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace normd {

class Fibre {
 public:
  using Body = void (*)(void* argument);  // must never return: it switches away instead

  // The stack that the calling thread already runs on: the place to come back to.
  Fibre();
  // A fibre that will call `body` when it is first switched to. resource_exhausted: no memory.
  static Result<std::unique_ptr<Fibre>> create(Body body, void* argument, std::size_t stack_bytes);
  // Drops the fibre where it stands; it must not be the running one.
  ~Fibre();
  Fibre(const Fibre&) = delete;  // its own stack refers to it by address
  Fibre& operator=(const Fibre&) = delete;

  // Called on the running fibre: leaves it and goes on with `next`. Inline, because a processor
  // mispredicts every return that it makes right after a switch.
  void switch_to(Fibre& next);

 private:
  // What the fibre that is left hands to the one that goes on.
  struct Crossing {
    Fibre* from;
    Fibre* to;
  };
  struct Stack;
  static void begin(boost::context::detail::transfer_t transfer);
  Fibre(Body body, void* argument, std::unique_ptr<Stack> stack);
  void arrive_from(Fibre& from, void* left_at);

  void* place_ = nullptr;  // where it was left
  Body body_ = nullptr;
  void* argument_ = nullptr;
  std::unique_ptr<Stack> stack_;        // null for the thread's own stack
  const void* stack_bottom_ = nullptr;  // lowest address, for the address sanitizer
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;    // the address sanitizer's, kept while the fibre is left
  void* thread_state_ = nullptr;  // the thread sanitizer's
};

inline void Fibre::switch_to(Fibre& next) {
  Crossing crossing{.from = this, .to = &next};
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(next.thread_state_, 0);
#endif
  const auto transfer = boost::context::detail::jump_fcontext(next.place_, &crossing);
  arrive_from(*static_cast<Crossing*>(transfer.data)->from, transfer.fctx);
}

// The first thing on the new stack. `from` was left a moment ago, and only now is it known where.
inline void Fibre::arrive_from(Fibre& from, void* left_at) {
  from.place_ = left_at;
#if defined(__SANITIZE_ADDRESS__)
  // This is also how the bounds of the thread's own stack become known.
  __sanitizer_finish_switch_fiber(fake_stack_, &from.stack_bottom_, &from.stack_bytes_);
#endif
}

}  // namespace normd
