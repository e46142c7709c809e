// Where the worker program of these tests is: beside the test itself, in the build tree and in the
// tarball alike.
#pragma once

#include <filesystem>
#include <string>

namespace normd {

inline std::string test_worker() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("worker_for_tests");
}

}  // namespace normd
