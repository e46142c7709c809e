// ServeJob: one launch for one request, from bytes in host memory to bytes in host memory. All
// spans stay valid until `done` has been called, whatever happens to the request meanwhile. Plain
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/problem.h"
#include "service/daemon/served_kernel.h"

namespace normd {

// A tensor as it lies in a received message: in one or several pieces, in order.
using Pieces = std::vector<std::span<const std::byte>>;
std::int64_t bytes_in(const Pieces& pieces);

// What goes in and where the answer goes. Empty where the problem has no such tensor.
struct ServeTensors {
  Pieces x;
  Pieces gamma;
  Pieces beta;
  std::span<std::byte> y;
  std::span<std::byte> mean;
  std::span<std::byte> rstd;
};

struct ServeTimes {
  std::int64_t kernel_ns = 0;  // from the launch until the device was done
  std::int64_t copies_ns = 0;  // in and out, with the host's share
};

struct ServeJob {
  ServedKernelPointer kernel;
  Problem problem;
  std::int64_t x_row_stride = 0;  // elements; y has no gaps
  float epsilon = 0;
  ServeTensors tensors;
  // On the serving thread; must be short.
  std::function<void(Result<ServeTimes>)> done;
};

}  // namespace normd
