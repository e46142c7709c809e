// CudaContext: a GPU's primary context and the one stream on which everything of a CudaDevice is
// ordered. Shared by the device and what it hands out, so that whichever goes last closes it.
// Belongs to the device's thread. CudaHandle is the owner of every other driver handle.
#pragma once

#include <memory>
#include <type_traits>

#include "kernels/error.h"
#include "tuner/device/cuda/driver.h"

namespace normd {

class CudaContext {
 public:
  static Result<std::shared_ptr<CudaContext>> create(std::shared_ptr<const Driver> driver,
                                                     int ordinal);
  CudaContext(const CudaContext&) = delete;  // two owners would release the context twice
  ~CudaContext();

  const Driver& driver() const { return *driver_; }
  CUdevice device() const { return device_; }
  CUstream stream() const { return stream_; }

  // A thread may own several devices, so every call first says whose turn it is.
  Result<void> make_current() const;
  Result<void> check(CUresult result, std::string_view tried) const {
    return driver_->check(result, tried);
  }

 private:
  CudaContext(std::shared_ptr<const Driver> driver, CUdevice device, CUcontext context)
      : driver_(std::move(driver)), device_(device), context_(context) {}

  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  CUcontext context_;          // held through the device's primary context
  CUstream stream_ = nullptr;  // within context_, and gone before it
};

// Closes a handle within its context. A context that was lost refuses, and there is nothing left to
// close in it: the answer does not matter.
template <typename Handle>
struct CudaCloser {
  using pointer = Handle;
  std::shared_ptr<const CudaContext> context;
  CUresult(CUDAAPI* close)(Handle) = nullptr;

  void operator()(Handle handle) const {
    if (context->make_current()) close(handle);
  }
};

template <typename Handle>
using CudaHandle = std::unique_ptr<std::remove_pointer_t<Handle>, CudaCloser<Handle>>;

using CudaModule = CudaHandle<CUmodule>;
using CudaEvent = CudaHandle<CUevent>;
using CudaGraph = CudaHandle<CUgraph>;
using CudaGraphExec = CudaHandle<CUgraphExec>;
using CudaHostMemory = CudaHandle<void*>;

}  // namespace normd
