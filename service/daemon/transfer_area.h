// TransferArea: one stretch of device memory and one of staging memory with the same layout, which
// hold a request's tensors while it is served and grow with the largest request so far. Belongs to
// the serving thread of its device.
#pragma once

#include <memory>

#include "kernels/arguments.h"
#include "service/daemon/serve_job.h"
#include "tuner/device/device.h"

namespace normd {

// Where each tensor lies, in bytes from the beginning; inputs come first, so that each direction is
// one copy.
struct TransferLayout {
  std::size_t gamma = 0;
  std::size_t beta = 0;
  std::size_t x = 0;
  std::size_t inputs_end = 0;
  std::size_t y = 0;
  std::size_t mean = 0;
  std::size_t rstd = 0;
  std::size_t end = 0;
};

class TransferArea {
 public:
  explicit TransferArea(Device& device) : device_(device) {}

  // Makes room, gathers the inputs into staging and sends them down. resource_exhausted when the
  // device has no room.
  Result<void> send(const ServeTensors& tensors);
  // The kernel's arguments for the job whose tensors were sent last.
  NormArguments arguments(const ServeJob& job) const;
  // Brings the outputs up and into the job's spans.
  Result<void> receive(const ServeTensors& tensors);

  const TransferLayout& layout() const { return layout_; }

 private:
  Result<void> grow(std::size_t bytes);

  Device& device_;
  TransferLayout layout_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Memory> staging_;
};

}  // namespace normd
