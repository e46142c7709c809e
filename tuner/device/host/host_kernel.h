// HostKernel: a shared object that the host compiler made, loaded into this process, with its
// Launch. Loading goes through a memory file, so that no file system has to allow execution.
// Belongs to its device's thread; unloads itself. It never runs anything: see block_runner.h.
#pragma once

#include <memory>
#include <vector>

#include "kernels/device_spec.h"
#include "tuner/device/device.h"
#include "tuner/device/host/block_runner.h"

namespace normd {

class HostKernel final : public Kernel {
 public:
  // data_loss: the digest does not match. failed_precondition: no host object, one that cannot be
  // loaded or lacks an entry, or a launch that needs what this device has not.
  static Result<std::unique_ptr<HostKernel>> load(const Binary& binary, const Launch& launch,
                                                  const DeviceSpec& spec);

  const Launch& launch() const override { return launch_; }
  KernelResources resources() const override { return resources_; }
  const std::vector<HostEntry>& entries() const { return entries_; }  // as in launch().entries

 private:
  struct Unload {
    void operator()(void* object) const;
  };
  using Object = std::unique_ptr<void, Unload>;
  static Result<Object> open_object(const Binary& binary);

  Object object_;
  std::vector<HostEntry> entries_;
  Launch launch_;
  KernelResources resources_;
};

}  // namespace normd
