// CudaSequence: calls captured from the stream into a CUDA graph, with an event before the first
// and one after the last. Belongs to its device's thread.
#pragma once

#include <memory>
#include <span>

#include "kernels/error.h"
#include "tuner/device/cuda/cuda_context.h"
#include "tuner/device/device.h"

namespace normd {

class CudaSequence final : public Sequence {
 public:
  // Captures; nothing runs.
  static Result<std::unique_ptr<CudaSequence>> record(std::shared_ptr<const CudaContext> context,
                                                      std::span<const Call> calls);

  // Runs it once, waits, and gives the device time between the two events.
  Result<double> replay_ns();

 private:
  CudaSequence(std::shared_ptr<const CudaContext> context, CudaEvent begin, CudaEvent end,
               CudaGraphExec graph);

  std::shared_ptr<const CudaContext> context_;
  CudaEvent begin_;
  CudaEvent end_;
  CudaGraphExec graph_;
};

}  // namespace normd
