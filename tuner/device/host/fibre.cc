#include "tuner/device/host/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace normd {

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
                                                 &Fibre::begin);
#if defined(__SANITIZE_THREAD__)
  thread_state_ = __tsan_create_fiber(0);
#endif
}

void Fibre::begin(boost::context::detail::transfer_t transfer) {
  const Crossing crossing = *static_cast<Crossing*>(transfer.data);
  Fibre& self = *crossing.to;
  self.arrive_from(*crossing.from, transfer.fctx);
  self.body_(self.argument_);
  NORMD_CHECK(!"a fibre's body returned");
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

}  // namespace normd
