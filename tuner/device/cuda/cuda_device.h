// CudaDevice: Device by the CUDA driver API, on the GPU's primary context and one stream of its
// own. Made by open_cuda_device(). Belongs to the thread that opened it.
#pragma once

#include <memory>
#include <span>

#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/cuda/management.h"
#include "tuner/device/device.h"
#include "tuner/device/open_device.h"

namespace normd {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const CudaContext> context, DeviceListing listing, Board board);
  ~CudaDevice() override;

  const DeviceSpec& spec() const override { return listing_.spec; }
  const DeviceIdentity& identity() const override { return listing_.identity; }

  Result<std::unique_ptr<Kernel>> load(const Binary& binary, const Launch& launch) override;
  Result<std::unique_ptr<Memory>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<Memory>> allocate_sparse(std::size_t bytes,
                                                  std::span<const Stretch> stretches) override;
  Result<std::unique_ptr<Memory>> allocate_staging(std::size_t bytes) override;

  Result<void> copy_in(void* device_to, const void* host_from, std::size_t bytes) override;
  Result<void> copy_out(void* host_to, const void* device_from, std::size_t bytes) override;
  Result<void> copy_within(void* device_to, const void* device_from, std::size_t bytes) override;
  Result<void> fill(void* device_to, unsigned char byte, std::size_t bytes) override;
  Result<void> launch(const KernelCall& call) override;
  Result<void> synchronize() override;

  Result<std::unique_ptr<Sequence>> record(std::span<const Call> calls) override;
  Result<double> replay_ns(Sequence& sequence) override;
  DeviceCondition condition() override { return board_.condition(); }

 private:
  std::shared_ptr<const CudaContext> context_;
  DeviceListing listing_;
  Board board_;
};

}  // namespace normd
