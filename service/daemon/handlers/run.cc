#include "service/daemon/handlers/run.h"

#include <chrono>
#include <memory>

#include "service/daemon/caller.h"
#include "service/daemon/core.h"
#include "service/daemon/run_message.h"
#include "service/daemon/unary_call.h"
#include "service/daemon/wire.h"
#include "service/daemon/wire_bytes.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// Everything that a request needs from its validation to its answer. The device reads and writes
// the tensors in here, whether or not the caller still waits.
struct Running {
  std::shared_ptr<UnaryCall> call;
  Clock::time_point begun_at;
  RunMessage message;
  ServedDevice* device = nullptr;
  ResolveAsk resolve;
  std::int64_t x_row_stride = 0;
  float epsilon = 0;
  Admission::Hold bytes;
  std::unique_ptr<RunAnswerBytes> answer;
};

// Every field of the request; nothing is allocated for its tensors yet.
Result<void> validate(Core& core, grpc::ByteBuffer&& bytes, Running& running) {
  auto message = read_run_message(std::move(bytes));
  if (!message) return fail(std::move(message.error()));
  running.message = std::move(*message);
  const v1::RunRequest& header = running.message.header;
  auto wire = read_problem(header.problem());
  if (!wire) return fail(std::move(wire.error()));
  const auto epsilon = read_epsilon(header);
  if (!epsilon) return fail(epsilon.error());
  const auto policy = read_policy(header.policy(), core.config().policy);
  if (!policy) return fail(policy.error());
  const auto mode = read_bucket_mode(header.bucket_mode());
  if (!mode) return fail(mode.error());
  const auto device = core.find_device(header.device());
  if (!device) return fail(device.error());
  auto problem = with_alignment(*wire, 0, (*device)->spec());
  if (!problem) return fail(std::move(problem.error()));
  if (auto right = check_tensors(running.message, *wire); !right) return right;
  running.device = *device;
  running.resolve = {.problem = *problem, .mode = *mode, .policy = *policy};
  running.x_row_stride = wire->x_row_stride;
  running.epsilon = *epsilon;
  return {};
}

void reply(Core& core, Running& running, const RunOutcome& outcome) {
  core.counters().count_run(outcome.origin);
  const std::int64_t whole_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - running.begun_at).count();
  v1::RunResponse header;
  header.set_origin(write_origin(outcome.origin));
  header.set_candidate(outcome.candidate);
  header.set_key(outcome.key);
  header.set_kernel_ns(outcome.times.kernel_ns);
  header.set_daemon_ns(whole_ns - outcome.times.kernel_ns - outcome.times.copies_ns);
  header.set_device(running.device->identity().uuid);
  running.call->reply(running.answer ? running.answer->finish(header) : serialize(header));
}

void refuse(Core& core, Running& running, const Error& error) {
  ++core.counters().runs_refused;
  core.log().debug(
      "run_refused",
      {{"code", error_code_name(error.code)}, {"field", error.field}, {"reason", error}});
  running.call->refuse(error);
}

// Room within the caps, then the device.
Result<void> start(Core& core, const std::shared_ptr<Running>& running,
                   std::int64_t request_bytes) {
  const Problem& problem = running->resolve.problem;
  auto bytes = core.admission().admit_bytes(request_bytes + answer_bytes(problem));
  if (!bytes) return fail(std::move(bytes.error()));
  running->bytes = std::move(*bytes);
  running->answer = std::make_unique<RunAnswerBytes>(problem);
  RunAsk ask{.resolve = running->resolve,
             .x_row_stride = running->x_row_stride,
             .epsilon = running->epsilon,
             .tensors = {.x = running->message.x,
                         .gamma = running->message.gamma,
                         .beta = running->message.beta,
                         .y = running->answer->y(),
                         .mean = running->answer->mean(),
                         .rstd = running->answer->rstd()}};
  running->device->run(std::move(ask), running->call->cancellation(),
                       [&core, running](Result<RunOutcome> outcome) {
                         if (outcome) return reply(core, *running, *outcome);
                         refuse(core, *running, outcome.error());
                       });
  return {};
}

}  // namespace

grpc::ServerUnaryReactor* run(Core& core, grpc::CallbackServerContext* context,
                              const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  const auto running = std::make_shared<Running>();
  running->begun_at = Clock::now();
  running->call = UnaryCall::begin(context, response);
  grpc::ServerUnaryReactor* const reactor = running->call.get();
  const auto request_bytes = static_cast<std::int64_t>(request->Length());
  // gRPC lends the request as const, but only until the call is done; the device may read its
  // tensors longer than that.
  Result<void> started =
      validate(core, std::move(const_cast<grpc::ByteBuffer&>(*request)), *running);
  running->resolve.client = caller_of(*context);
  if (started && running->resolve.problem.rows == 0) {
    reply(core, *running, {.origin = Origin::none});
  } else if (started) {
    started = start(core, running, request_bytes);
  }
  if (!started) refuse(core, *running, started.error());
  return reactor;
}

}  // namespace normd
