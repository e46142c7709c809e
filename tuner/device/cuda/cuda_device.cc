#include "tuner/device/cuda/cuda_device.h"

#include <utility>

#include "kernels/digest.h"
#include "tuner/device/cuda/cuda_kernel.h"
#include "tuner/device/cuda/cuda_memory.h"
#include "tuner/device/cuda/cuda_sequence.h"
#include "tuner/device/cuda/sparse_memory.h"

namespace normd {
namespace {

std::string copying(std::size_t bytes, std::string_view where) {
  return "copying " + std::to_string(bytes) + " bytes " + std::string(where);
}

}  // namespace

CudaDevice::CudaDevice(std::shared_ptr<const CudaContext> context, DeviceListing listing,
                       Board board)
    : context_(std::move(context)), listing_(std::move(listing)), board_(std::move(board)) {}

CudaDevice::~CudaDevice() = default;

Result<std::unique_ptr<Kernel>> CudaDevice::load(const Binary& binary, const Launch& launch) {
  if (const std::string digest = sha256_hex(binary.bytes); digest != binary.digest) {
    return fail(ErrorCode::data_loss, binary.entry + " for " + binary.target + " has digest " +
                                          digest + " and should have " + binary.digest +
                                          ": it is damaged and was not loaded");
  }
  if (binary.format == BinaryFormat::host_object) {
    return fail(
        ErrorCode::failed_precondition,
        binary.entry + " was compiled for the host and cannot run on " + listing_.spec.name);
  }
  return CudaKernel::load(context_, binary, launch, listing_);
}

Result<std::unique_ptr<Memory>> CudaDevice::allocate(std::size_t bytes) {
  return allocate_cuda_memory(context_, bytes);
}

Result<std::unique_ptr<Memory>> CudaDevice::allocate_sparse(std::size_t bytes,
                                                            std::span<const Stretch> stretches) {
  return allocate_sparse_memory(context_, bytes, stretches);
}

Result<std::unique_ptr<Memory>> CudaDevice::allocate_staging(std::size_t bytes) {
  return allocate_pinned_memory(context_, bytes);
}

Result<void> CudaDevice::copy_in(void* device_to, const void* host_from, std::size_t bytes) {
  if (bytes == 0) return {};
  if (auto current = context_->make_current(); !current) return current;
  const CUresult result =
      context_->driver().copy_in(device_address(device_to), host_from, bytes, context_->stream());
  if (auto begun = context_->check(result, copying(bytes, "to the GPU")); !begun) return begun;
  return synchronize();
}

Result<void> CudaDevice::copy_out(void* host_to, const void* device_from, std::size_t bytes) {
  if (bytes == 0) return {};
  if (auto current = context_->make_current(); !current) return current;
  const CUresult result =
      context_->driver().copy_out(host_to, device_address(device_from), bytes, context_->stream());
  if (auto begun = context_->check(result, copying(bytes, "from the GPU")); !begun) return begun;
  return synchronize();
}

Result<void> CudaDevice::copy_within(void* device_to, const void* device_from, std::size_t bytes) {
  if (bytes == 0) return {};
  if (auto current = context_->make_current(); !current) return current;
  const CUresult result = context_->driver().copy_within(
      device_address(device_to), device_address(device_from), bytes, context_->stream());
  return context_->check(result, copying(bytes, "within the GPU"));
}

Result<void> CudaDevice::fill(void* device_to, unsigned char byte, std::size_t bytes) {
  if (bytes == 0) return {};
  if (auto current = context_->make_current(); !current) return current;
  const CUresult result =
      context_->driver().fill(device_address(device_to), byte, bytes, context_->stream());
  return context_->check(result, "filling " + std::to_string(bytes) + " bytes on the GPU");
}

Result<void> CudaDevice::launch(const KernelCall& call) {
  if (auto current = context_->make_current(); !current) return current;
  return static_cast<CudaKernel*>(call.kernel)->enqueue(call.arguments, call.rows);
}

Result<void> CudaDevice::synchronize() {
  if (auto current = context_->make_current(); !current) return current;
  const CUresult result = context_->driver().stream_synchronize(context_->stream());
  return context_->check(result, "waiting for the GPU");
}

Result<std::unique_ptr<Sequence>> CudaDevice::record(std::span<const Call> calls) {
  return CudaSequence::record(context_, calls);
}

Result<double> CudaDevice::replay_ns(Sequence& sequence) {
  return static_cast<CudaSequence&>(sequence).replay_ns();
}

}  // namespace normd
