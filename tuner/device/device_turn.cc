#include "tuner/device/device_turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/check.h"

namespace normd {
namespace {

// UUIDs have letters, digits and dashes; whatever else a name brings must not become a path.
std::string file_name_of(const std::string& uuid) {
  std::string name = uuid;
  for (char& letter : name) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= 'a' && letter <= 'z') || letter == '-' || letter == '_';
    if (!plain) letter = '_';
  }
  return name + ".turn";
}

Result<void> ensure_directory(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return {};
  const bool created = std::filesystem::create_directories(directory, error);
  if (error) {
    return fail(ErrorCode::failed_precondition, "the directory for device turns, " + directory +
                                                    ", cannot be made: " + error.message());
  }
  // Only what was made here: another process may have been faster, with rights of its own.
  if (created) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  return {};
}

// flock, again and again while signals interrupt it. False: it would have to wait.
bool lock(int descriptor, int operation) {
  while (flock(descriptor, operation) != 0) {
    if (errno == EWOULDBLOCK) return false;
    NORMD_CHECK(errno == EINTR);
  }
  return true;
}

}  // namespace

Result<DeviceTurn> DeviceTurn::open(const std::string& directory, const std::string& uuid) {
  if (auto ready = ensure_directory(directory); !ready) return fail(ready.error());
  const std::string path = (std::filesystem::path(directory) / file_name_of(uuid)).string();
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::failed_precondition, "the turn file of device " + uuid + ", " + path +
                                                    ", cannot be opened: " + std::strerror(errno));
  }
  // A file system without locks says so at the first attempt, before anyone relies on it.
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno != EWOULDBLOCK && errno != EINTR) {
    const std::string words = std::strerror(errno);
    ::close(descriptor);
    return fail(ErrorCode::failed_precondition, path + " cannot be locked: " + words);
  }
  flock(descriptor, LOCK_UN);
  return DeviceTurn(descriptor);
}

DeviceTurn::DeviceTurn(DeviceTurn&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DeviceTurn& DeviceTurn::operator=(DeviceTurn&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DeviceTurn::~DeviceTurn() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DeviceTurn::take() {
  NORMD_CHECK(lock(descriptor_, LOCK_EX));
}

bool DeviceTurn::try_take() {
  return lock(descriptor_, LOCK_EX | LOCK_NB);
}

void DeviceTurn::give() {
  NORMD_CHECK(flock(descriptor_, LOCK_UN) == 0);
}

}  // namespace normd
