#include "tuner/compiler/temporary_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace normd {
namespace {

constexpr std::string_view prefix = "normd-compile-";

// Sweeps elsewhere can take a directory between its making and its locking, but hardly so often.
constexpr int makings_max = 100;
constexpr int removals_max = 3;

int open_directory(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Whether nobody else holds it. A file system without locks lets everybody in here, and nobody in
// is_abandoned().
bool lock_new(int directory) {
  return ::flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_abandoned(int directory) {
  struct stat found {};
  return ::fstat(directory, &found) == 0 && found.st_uid == ::geteuid() &&
         ::flock(directory, LOCK_EX | LOCK_NB) == 0;
}

// A compiler that outlived its owner may still be writing there; it ends as soon as it notices.
void remove_with_content(const std::filesystem::path& path) {
  std::error_code problem;
  for (int attempt = 0; attempt < removals_max; ++attempt) {
    std::filesystem::remove_all(path, problem);
    if (!problem) return;
  }
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code problem;
  const std::filesystem::path place = std::filesystem::temp_directory_path(problem);
  if (problem) {
    return fail(ErrorCode::failed_precondition,
                "no place for temporary files (TMPDIR, else /tmp): " + problem.message());
  }
  sweep();
  for (int attempt = 0; attempt < makings_max; ++attempt) {
    std::string path = (place / prefix).string() + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) break;
    const int lock = open_directory(path);
    if (lock < 0) continue;
    struct stat opened {
    }, named{};
    const bool ours = lock_new(lock) && ::fstat(lock, &opened) == 0 &&
                      ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino;
    if (ours) return TemporaryDirectory(path, lock);
    ::close(lock);
  }
  return fail(ErrorCode::failed_precondition,
              "making a temporary directory in " + place.string() + ": " + std::strerror(errno));
}

void TemporaryDirectory::sweep() {
  std::error_code problem;
  std::filesystem::directory_iterator entries(std::filesystem::temp_directory_path(problem),
                                              problem);
  for (; !problem && entries != std::filesystem::directory_iterator(); entries.increment(problem)) {
    const std::filesystem::path& path = entries->path();
    if (!path.filename().native().starts_with(prefix)) continue;
    const int directory = open_directory(path);
    if (directory < 0) continue;
    if (is_abandoned(directory)) remove_with_content(path);
    ::close(directory);
  }
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

TemporaryDirectory::~TemporaryDirectory() {
  // In this order: what is not locked, a sweep elsewhere takes for its own.
  if (!path_.empty()) remove_with_content(path_);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace normd
