// Fibre: a stack of its own and a place to go on from on it, on top of Boost.Context. Stacks end in
// a guard page, and every switch is announced to the sanitizers, which otherwise take another stack
// for a corrupt one. All fibres that switch to each other belong to one thread.
// It uses Boost's bare switch rather than boost::context::fiber, because a fibre of a failed launch
// must be dropped where it stands, without unwinding through a kernel.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/error.h"

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

  // Called on the running fibre: leaves it and goes on with `next`.
  void switch_to(Fibre& next);

 private:
  struct Crossing;
  struct Stack;
  Fibre(Body body, void* argument, std::unique_ptr<Stack> stack);
  void arrive_from(Fibre& from, void* left_at);

  void* place_ = nullptr;  // where to go on; null while running
  Body body_ = nullptr;
  void* argument_ = nullptr;
  std::unique_ptr<Stack> stack_;        // null for the thread's own stack
  const void* stack_bottom_ = nullptr;  // lowest address, for the address sanitizer
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;    // the address sanitizer's, kept while the fibre is left
  void* thread_state_ = nullptr;  // the thread sanitizer's
};

}  // namespace normd
