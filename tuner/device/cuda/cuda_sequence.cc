#include "tuner/device/cuda/cuda_sequence.h"

#include <utility>

#include "tuner/device/cuda/cuda_kernel.h"
#include "tuner/device/cuda/cuda_memory.h"

namespace normd {
namespace {

Result<CudaEvent> create_event(const std::shared_ptr<const CudaContext>& context) {
  CUevent raw = nullptr;
  const CUresult result = context->driver().event_create(&raw, CU_EVENT_DEFAULT);
  if (auto created = context->check(result, "creating an event"); !created) {
    return fail(std::move(created.error()));
  }
  return CudaEvent(raw, {.context = context, .close = context->driver().event_destroy});
}

Result<void> enqueue(const CudaContext& context, const Call& call) {
  if (const auto* kernel_call = std::get_if<KernelCall>(&call)) {
    return static_cast<CudaKernel*>(kernel_call->kernel)
        ->enqueue(kernel_call->arguments, kernel_call->rows);
  }
  const auto& copy = std::get<CopyCall>(call);
  if (copy.bytes == 0) return {};
  const CUresult result = context.driver().copy_within(
      device_address(copy.to), device_address(copy.from), copy.bytes, context.stream());
  return context.check(result, "recording a copy of " + std::to_string(copy.bytes) + " bytes");
}

// The events become nodes of the graph, so that the time is taken on the device between its own
// first and last node, without the gap in which the host is still handing the graph over.
Result<void> enqueue_event(const CudaContext& context, CUevent event) {
  const CUresult result =
      context.driver().event_record_with_flags(event, context.stream(), CU_EVENT_RECORD_EXTERNAL);
  return context.check(result, "recording an event");
}

Result<void> enqueue_all(const CudaContext& context, CUevent begin, CUevent end,
                         std::span<const Call> calls) {
  if (auto done = enqueue_event(context, begin); !done) return done;
  for (const Call& call : calls) {
    if (auto done = enqueue(context, call); !done) return done;
  }
  return enqueue_event(context, end);
}

// Whatever goes wrong in between, the capture is ended, or the stream would stay unusable.
Result<CudaGraph> capture(const std::shared_ptr<const CudaContext>& context, CUevent begin,
                          CUevent end, std::span<const Call> calls) {
  const Driver& driver = context->driver();
  // Relaxed: a driver that loads kernels lazily may allocate at their first launch.
  const CUresult begun =
      driver.stream_begin_capture(context->stream(), CU_STREAM_CAPTURE_MODE_RELAXED);
  if (auto started = context->check(begun, "beginning to record"); !started) {
    return fail(std::move(started.error()));
  }
  auto enqueued = enqueue_all(*context, begin, end, calls);
  CUgraph raw = nullptr;
  const CUresult ended = driver.stream_end_capture(context->stream(), &raw);
  CudaGraph graph(raw, {.context = context, .close = driver.graph_destroy});
  if (!enqueued) return fail(std::move(enqueued.error()));
  if (auto finished = context->check(ended, "ending a recording"); !finished) {
    return fail(std::move(finished.error()));
  }
  return graph;
}

}  // namespace

Result<std::unique_ptr<CudaSequence>> CudaSequence::record(
    std::shared_ptr<const CudaContext> context, std::span<const Call> calls) {
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  Result<CudaEvent> begin = create_event(context);
  Result<CudaEvent> end = create_event(context);
  if (!begin) return fail(std::move(begin.error()));
  if (!end) return fail(std::move(end.error()));
  const Result<CudaGraph> graph = capture(context, begin->get(), end->get(), calls);
  if (!graph) return fail(graph.error());
  const Driver& driver = context->driver();
  CUgraphExec raw = nullptr;
  const CUresult made = driver.graph_instantiate(&raw, graph->get(), 0);
  if (auto ready = context->check(
          made, "preparing a recording of " + std::to_string(calls.size()) + " calls");
      !ready) {
    return fail(std::move(ready.error()));
  }
  CudaGraphExec executable(raw, {.context = context, .close = driver.graph_exec_destroy});
  const CUresult uploaded = driver.graph_upload(raw, context->stream());
  if (auto up = context->check(uploaded, "uploading a recording"); !up) {
    return fail(std::move(up.error()));
  }
  return std::unique_ptr<CudaSequence>(new CudaSequence(std::move(context), *std::move(begin),
                                                        *std::move(end), std::move(executable)));
}

CudaSequence::CudaSequence(std::shared_ptr<const CudaContext> context, CudaEvent begin,
                           CudaEvent end, CudaGraphExec graph)
    : context_(std::move(context)),
      begin_(std::move(begin)),
      end_(std::move(end)),
      graph_(std::move(graph)) {}

Result<double> CudaSequence::replay_ns() {
  if (auto current = context_->make_current(); !current) return fail(std::move(current.error()));
  const Driver& driver = context_->driver();
  const CUresult launched = driver.graph_launch(graph_.get(), context_->stream());
  if (auto done = context_->check(launched, "replaying a recording"); !done) {
    return fail(std::move(done.error()));
  }
  const CUresult finished = driver.stream_synchronize(context_->stream());
  if (auto done = context_->check(finished, "waiting for a recording"); !done) {
    return fail(std::move(done.error()));
  }
  float milliseconds = 0;
  const CUresult read = driver.event_elapsed_time(&milliseconds, begin_.get(), end_.get());
  if (auto done = context_->check(read, "reading the time of a recording"); !done) {
    return fail(std::move(done.error()));
  }
  return static_cast<double>(milliseconds) * 1e6;
}

}  // namespace normd
