#include "tuner/device/cuda/cuda_context.h"

#include <utility>

namespace normd {

Result<std::shared_ptr<CudaContext>> CudaContext::create(std::shared_ptr<const Driver> driver,
                                                         int ordinal) {
  const std::string gpu = "GPU " + std::to_string(ordinal);
  CUdevice device = 0;
  CUcontext raw = nullptr;
  if (auto got = driver->check(driver->device_get(&device, ordinal), "opening " + gpu); !got) {
    return fail(std::move(got.error()));
  }
  const CUresult retained = driver->primary_context_retain(&raw, device);
  if (auto got = driver->check(retained, "creating a context on " + gpu); !got) {
    return fail(std::move(got.error()));
  }
  // From here on the destructor gives back what there is.
  std::shared_ptr<CudaContext> context(new CudaContext(std::move(driver), device, raw));
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  const CUresult created =
      context->driver().stream_create(&context->stream_, CU_STREAM_NON_BLOCKING);
  if (auto got = context->check(created, "creating a stream on " + gpu); !got) {
    return fail(std::move(got.error()));
  }
  return context;
}

CudaContext::~CudaContext() {
  if (stream_ != nullptr && make_current()) driver_->stream_destroy(stream_);
  driver_->primary_context_release(device_);
}

Result<void> CudaContext::make_current() const {
  return driver_->check(driver_->context_set_current(context_), "entering the GPU's context");
}

}  // namespace normd
