// TemporaryDirectory: a private place on disk for one run of a compiler, removed with all that is
// in it, and also after its owner was killed: its lock, which ends with the owner, says whether it
// is still wanted, and whoever comes next removes what is not. One owner; any thread.
#pragma once

#include <filesystem>

#include "kernels/error.h"

namespace normd {

class TemporaryDirectory {
 public:
  // In the system's place for temporary files, which TMPDIR names, after a sweep of it.
  // failed_precondition: there is none that can be written to.
  static Result<TemporaryDirectory> create();

  // Removes this user's directories whose owners are gone. What cannot be removed stays.
  static void sweep();

  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;  // empty once moved from
  int lock_ = -1;               // a descriptor of the directory
};

}  // namespace normd
