// CudaKernel: a loaded module with its entries and a launch that is worked out once, so that a
// launch only fills in the grid. Belongs to its device's thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "tuner/binary.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/device.h"
#include "tuner/device/open_device.h"

namespace normd {

class CudaKernel final : public Kernel {
 public:
  // `driver_text` is named when the driver cannot read the image. The digest was checked before.
  static Result<std::unique_ptr<CudaKernel>> load(std::shared_ptr<const CudaContext> context,
                                                  const Binary& binary, const Launch& launch,
                                                  const DeviceListing& device);
  CudaKernel(const CudaKernel&) = delete;  // config_ points into this object

  const Launch& launch() const override { return launch_; }
  KernelResources resources() const override { return resources_; }

  // Puts the launch of every entry on the stream (or into the graph being captured from it).
  Result<void> enqueue(std::span<const std::byte> arguments, std::int64_t rows);

 private:
  CudaKernel(std::shared_ptr<const CudaContext> context, CudaModule module, const Launch& launch);

  Result<void> find_entries(const std::string& entry);
  Result<void> prepare_entry(CUfunction function, const std::string& entry, const DeviceSpec& spec);
  Result<void> measure_resources(CUfunction function, const std::string& entry);
  // For a launch whose blocks must be resident at once.
  void limit_to(std::int64_t resident_blocks);
  Result<void> check_cluster(CUfunction function, const std::string& entry);
  Result<int> attribute(CUfunction function, CUfunction_attribute name) const;

  std::shared_ptr<const CudaContext> context_;
  CudaModule module_;
  Launch launch_;
  std::vector<std::string> entry_names_;
  std::vector<CUfunction> functions_;
  std::size_t argument_bytes_ = 0;  // as compiled; 0 where the driver does not tell
  KernelResources resources_;
  std::array<CUlaunchAttribute, 3> attributes_{};
  CUlaunchConfig config_{};
};

}  // namespace normd
