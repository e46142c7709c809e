#include "tuner/device/host/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace normd {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

// What the fibre that is left hands to the one that goes on.
struct Fibre::Crossing {
  Fibre* from;
  Fibre* to;

  static void begin(transfer_t transfer) {
    const Crossing crossing = *static_cast<Crossing*>(transfer.data);
    Fibre& self = *crossing.to;
    self.arrive_from(*crossing.from, transfer.fctx);
    self.body_(self.argument_);
    NORMD_CHECK(!"a fibre's body returned");
  }
};

// A mapping whose lowest page is never accessible: running off the end of the stack is a fault at
// once and not a silent write into the next stack.
struct Fibre::Stack {
  Stack(void* mapped, std::size_t guard, std::size_t usable)
      : mapping(static_cast<char*>(mapped)), guard_bytes(guard), bytes(usable) {}
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() {
#if defined(__SANITIZE_ADDRESS__)
    // Frames that were dropped in the middle left their red zones behind.
    __asan_unpoison_memory_region(bottom(), bytes);
#endif
    munmap(mapping, guard_bytes + bytes);
  }
  char* bottom() const {
    return mapping + guard_bytes;
  }

  char* mapping;
  std::size_t guard_bytes;
  std::size_t bytes;
};

Fibre::Fibre() {
#if defined(__SANITIZE_THREAD__)
  thread_state_ = __tsan_get_current_fiber();
#endif
}

Fibre::Fibre(Body body, void* argument, std::unique_ptr<Stack> stack)
    : body_(body),
      argument_(argument),
      stack_(std::move(stack)),
      stack_bottom_(stack_->bottom()),
      stack_bytes_(stack_->bytes) {
  place_ = boost::context::detail::make_fcontext(stack_->bottom() + stack_bytes_, stack_bytes_,
                                                 &Crossing::begin);
#if defined(__SANITIZE_THREAD__)
  thread_state_ = __tsan_create_fiber(0);
#endif
}

Result<std::unique_ptr<Fibre>> Fibre::create(Body body, void* argument, std::size_t stack_bytes) {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (stack_bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* mapping = mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, page_bytes, PROT_NONE) != 0) {
    const std::string words = std::strerror(errno);
    if (mapping != MAP_FAILED) munmap(mapping, page_bytes + bytes);
    return fail(ErrorCode::resource_exhausted,
                "mapping a fibre's stack of " + std::to_string(bytes) + " bytes: " + words);
  }
  auto stack = std::make_unique<Stack>(mapping, page_bytes, bytes);
  return std::unique_ptr<Fibre>(new Fibre(body, argument, std::move(stack)));
}

Fibre::~Fibre() {
#if defined(__SANITIZE_THREAD__)
  if (stack_) __tsan_destroy_fiber(thread_state_);
#endif
}

void Fibre::switch_to(Fibre& next) {
  Crossing crossing{.from = this, .to = &next};
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(next.thread_state_, 0);
#endif
  const fcontext_t place = next.place_;
  next.place_ = nullptr;
  const transfer_t transfer = boost::context::detail::jump_fcontext(place, &crossing);
  arrive_from(*static_cast<Crossing*>(transfer.data)->from, transfer.fctx);
}

// The first thing on the new stack. `from` was left a moment ago, and only now is it known where.
void Fibre::arrive_from(Fibre& from, void* left_at) {
  from.place_ = left_at;
#if defined(__SANITIZE_ADDRESS__)
  // This is also how the bounds of the thread's own stack become known.
  __sanitizer_finish_switch_fiber(fake_stack_, &from.stack_bottom_, &from.stack_bytes_);
#endif
}

}  // namespace normd
