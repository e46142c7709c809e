// DeviceTurn: one measurement at a time per device, over all processes of this host. An exclusive
// flock on a file named by the device's UUID, held for a slice of a few milliseconds; the daemon's
// own launches take it too, so that they spoil no sample. One thread each.
#pragma once

#include <memory>
#include <string>

#include "kernels/error.h"

namespace normd {

class DeviceTurn {
 public:
  // `directory` is created (0700) if missing.
  static Result<DeviceTurn> open(const std::string& directory, const std::string& uuid);
  DeviceTurn(DeviceTurn&&) noexcept;
  DeviceTurn& operator=(DeviceTurn&&) noexcept;
  ~DeviceTurn();

  void take();     // blocks; a slice is at most a few milliseconds
  bool try_take();
  void give();

 private:
  explicit DeviceTurn(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace normd
