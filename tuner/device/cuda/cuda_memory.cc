#include "tuner/device/cuda/cuda_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/check.h"

namespace normd {
namespace {

class DeviceMemory final : public Memory {
 public:
  DeviceMemory(std::shared_ptr<const CudaContext> context, CUdeviceptr address, std::size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  DeviceMemory(const DeviceMemory&) = delete;  // two owners would free it twice
  ~DeviceMemory() override {
    if (context_->make_current()) context_->driver().memory_free(address_);
  }
  void* address() const override { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<const CudaContext> context_;
  CUdeviceptr address_;
  std::size_t bytes_;
};

class PinnedMemory final : public Memory {
 public:
  PinnedMemory(CudaHostMemory memory, std::size_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}
  void* address() const override { return memory_.get(); }
  std::size_t bytes() const override { return bytes_; }

 private:
  CudaHostMemory memory_;
  std::size_t bytes_;
};

// The driver refuses to allocate nothing; an empty tensor still wants an address of its own.
std::size_t bytes_to_ask_for(std::size_t bytes) {
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

Result<std::unique_ptr<Memory>> allocate_cuda_memory(std::shared_ptr<const CudaContext> context,
                                                     std::size_t bytes) {
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  CUdeviceptr address = 0;
  const CUresult result = context->driver().memory_allocate(&address, bytes_to_ask_for(bytes));
  if (auto got =
          context->check(result, "allocating " + std::to_string(bytes) + " bytes on the GPU");
      !got) {
    return fail(std::move(got.error()));
  }
  NORMD_CHECK(address % 256 == 0);
  return std::make_unique<DeviceMemory>(std::move(context), address, bytes);
}

Result<std::unique_ptr<Memory>> allocate_pinned_memory(std::shared_ptr<const CudaContext> context,
                                                       std::size_t bytes) {
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  void* address = nullptr;
  const CUresult result = context->driver().host_allocate(&address, bytes_to_ask_for(bytes), 0);
  if (auto got =
          context->check(result, "pinning " + std::to_string(bytes) + " bytes of host memory");
      !got) {
    return fail(std::move(got.error()));
  }
  const auto close = context->driver().host_free;
  CudaHostMemory memory(address, {.context = std::move(context), .close = close});
  return std::make_unique<PinnedMemory>(std::move(memory), bytes);
}

}  // namespace normd
