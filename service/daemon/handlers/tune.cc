#include "service/daemon/handlers/tune.h"

#include <future>
#include <memory>

#include "kernels/catalog.h"
#include "service/daemon/caller.h"
#include "service/daemon/core.h"
#include "service/daemon/tune_stream.h"
#include "service/daemon/wire.h"
#include "service/daemon/wire_bytes.h"
#include "tuner/usable_winner.h"

namespace normd {
namespace {

constexpr std::size_t template_name_bytes_max = 64;

struct TuneAsk {
  ServedDevice* device = nullptr;
  TuneRequest request;
  std::string client;
};

Result<TuneAsk> read_ask(Core& core, const v1::TuneRequest& message) {
  const auto wire = read_problem(message.problem());
  if (!wire) return fail(wire.error());
  if (wire->problem.rows == 0) {
    return fail(ErrorCode::invalid_argument, "problem.rows must be at least 1 to tune for",
                "problem.rows");
  }
  const auto mode = read_bucket_mode(message.bucket_mode());
  if (!mode) return fail(mode.error());
  const auto device = core.find_device(message.device());
  if (!device) return fail(device.error());
  const auto problem = with_alignment(*wire, message.align_bytes(), (*device)->spec());
  if (!problem) return fail(problem.error());
  if (message.budget_ms() < 0 || message.budget_ms() > limits::tuning_budget_ms_max) {
    return fail(ErrorCode::invalid_argument,
                "budget_ms must be 0 to " + std::to_string(limits::tuning_budget_ms_max) +
                    ", got " + std::to_string(message.budget_ms()),
                "budget_ms");
  }
  const std::string& name = message.template_name();
  if (auto ok = check_text(name, template_name_bytes_max, "template_name"); !ok) {
    return fail(ok.error());
  }
  if (!name.empty() && find_template(name) == nullptr) {
    return fail(ErrorCode::invalid_argument, "there is no template '" + name + "'",
                "template_name");
  }
  const std::int64_t budget_ms =
      message.budget_ms() == 0 ? core.config().tuning_budget_ms : message.budget_ms();
  return TuneAsk{.device = *device,
                 .request = {.problem = *problem,
                             .mode = *mode,
                             .budget_ms = budget_ms,
                             .template_name = name,
                             .again = message.again()}};
}

v1::TuneResponse last_message(const Tuning& tuning, Origin origin) {
  v1::TuneResponse message;
  message.set_done(true);
  message.set_origin(write_origin(origin));
  message.set_compiles(tuning.compiles);
  message.set_rounds_kept(tuning.rounds_kept);
  message.set_rounds_discarded(tuning.rounds_discarded);
  message.mutable_progress()->set_stage("done");
  message.mutable_progress()->set_elapsed_ms(tuning.elapsed_ms);
  if (tuning.winner) *message.mutable_winner() = write_winner(*tuning.winner);
  for (const Trial& trial : tuning.trials) *message.add_trials() = write_trial(trial);
  return message;
}

// A shape that is tuned already answers from the store, without its turn in the queue.
bool answer_from_store(Core& core, const TuneAsk& ask, TuneStream& stream) {
  if (ask.request.again || !ask.request.template_name.empty()) return false;
  const Key key = ask.device->resolver().key_of(ask.request.problem, ask.request.mode);
  StoredWinner stored = find_usable_winner(core.store(), key, ask.device->spec());
  if (!stored.usable()) return false;
  auto trials = core.store().find_trials(key);
  const Origin origin = ask.device->resolver().in_memory(key) ? Origin::memory : Origin::store;
  stream.finish(
      serialize(last_message({.winner = std::move(stored.winner),
                              .trials = trials ? std::move(*trials) : std::vector<Trial>(),
                              .from_store = true},
                             origin)));
  return true;
}

// On the control thread, since it asks the store first.
void start(Core& core, const TuneAsk& ask, const std::shared_ptr<TuneStream>& stream) {
  if (answer_from_store(core, ask, *stream)) return;
  // Whether this call joined is known when tune() returns, which may be a moment after the end.
  std::promise<Joined> promise;
  const std::shared_future<Joined> joined = promise.get_future().share();
  Waiter waiter{.progress =
                    [stream](const TuneProgress& progress) {
                      v1::TuneResponse message;
                      *message.mutable_progress() = write_progress(progress);
                      stream->offer(serialize(message));
                    },
                .finished =
                    [stream, joined](const Result<Tuning>& tuning) {
                      if (!tuning) return stream->refuse(tuning.error());
                      const Origin origin = tuning->from_store               ? Origin::store
                                            : joined.get() == Joined::joined ? Origin::joined
                                                                             : Origin::tuned;
                      stream->finish(serialize(last_message(*tuning, origin)));
                    }};
  const auto submitted = ask.device->resolver().tune(ask.request, ask.client, std::move(waiter),
                                                     stream->cancellation());
  if (!submitted) return stream->refuse(submitted.error());
  promise.set_value(*submitted);
}

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* tune(Core& core, grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request) {
  const auto stream = TuneStream::begin(context);
  auto message = parse<v1::TuneRequest>(*request);
  if (!message) {
    stream->refuse(message.error());
    return stream.get();
  }
  auto ask = read_ask(core, *message);
  if (!ask) {
    stream->refuse(ask.error());
    return stream.get();
  }
  ask->client = caller_of(*context);
  const bool posted =
      core.control().post([&core, stream, ask = std::move(*ask)] { start(core, ask, stream); });
  if (!posted) stream->refuse({ErrorCode::resource_exhausted, "too many calls at once", {}});
  return stream.get();
}

}  // namespace normd
