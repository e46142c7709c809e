#include "tuner/store/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace normd {
namespace {

// Close-on-exec: a child must not keep the turn that its parent has let go.
Result<int> open_turn_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor >= 0) return descriptor;
  return fail(ErrorCode::failed_precondition,
              "opening the lock file " + path + ": " + std::strerror(errno));
}

void close_if_open(int descriptor) {
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace

Result<StoreTurn> StoreTurn::open(const std::string& path) {
  const Result<int> descriptor = open_turn_file(path);
  if (!descriptor) return fail(descriptor.error());
  return StoreTurn(path, *descriptor);
}

StoreTurn::StoreTurn(StoreTurn&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreTurn& StoreTurn::operator=(StoreTurn&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

StoreTurn::~StoreTurn() {
  close_if_open(descriptor_);
}

StoreTurn::Held::Held(Held&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreTurn::Held::~Held() {
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_UN);
}

bool StoreTurn::is_current() const {
  struct stat open_file {};
  struct stat named_file {};
  return ::fstat(descriptor_, &open_file) == 0 && ::stat(path_.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

Result<StoreTurn::Held> StoreTurn::take(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  // flock has no time limit of its own, so it is asked again and again, ever less often.
  auto pause = std::chrono::microseconds(100);
  while (true) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
      Held held(descriptor_);
      if (is_current()) return held;
      // Someone removed the file: those who come later lock another one.
      const Result<int> descriptor = open_turn_file(path_);
      if (!descriptor) return fail(descriptor.error());
      { const Held let_go(std::move(held)); }
      ::close(std::exchange(descriptor_, *descriptor));
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(ErrorCode::unavailable, "locking " + path_ + ": " + std::strerror(errno));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorCode::unavailable, "another process held " + path_ + " for " +
                                              std::to_string(limit.count()) + " ms");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

}  // namespace normd
