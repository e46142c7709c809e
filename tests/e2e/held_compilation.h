// HeldCompilation: an assembler in front of the real one that waits for as long as a file is there,
// so that tunings stand still while their candidates are being compiled. A daemon that is to be
// held runs with shell_prefix(). For test programs only.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "daemon_process.h"

namespace normd {

class HeldCompilation {
 public:
  HeldCompilation() {
    const std::filesystem::path as = directory_.path() + "/as";
    std::ofstream(as) << "#!/bin/sh\nwhile [ -e " << hold_ << " ]; do sleep 0.2; done\n"
                      << "PATH=${PATH#*:}\nexec as \"$@\"\n";
    std::filesystem::permissions(as, std::filesystem::perms::owner_all);
  }
  ~HeldCompilation() { release(); }
  HeldCompilation(const HeldCompilation&) = delete;  // one file, one owner

  std::string shell_prefix() const { return "export PATH=" + directory_.path() + ":$PATH;"; }
  void hold() const { std::ofstream{hold_}; }
  void release() const { std::filesystem::remove(hold_); }

 private:
  const TestDirectory directory_;
  const std::string hold_ = directory_.path() + "/hold";
};

}  // namespace normd
