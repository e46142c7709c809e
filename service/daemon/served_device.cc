#include "service/daemon/served_device.h"

#include <chrono>
#include <utility>

#include "kernels/limits.h"
#include "tuner/compiler/compiler.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// One line for each tuning, whoever asked for it.
void log_tuning(const Log& log, const std::string& key, Clock::time_point begun,
                const Result<std::optional<Tuning>>& tuned) {
  const auto elapsed_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun).count();
  if (!tuned) {
    log.info("tuning", {{"key", key}, {"elapsed_ms", elapsed_ms}, {"reason", tuned.error()}});
    return;
  }
  const std::optional<Tuning>& tuning = *tuned;
  log.info("tuning", {{"key", key},
                      {"elapsed_ms", elapsed_ms},
                      {"winner", tuning->winner ? to_text(tuning->winner->candidate) : "none"},
                      {"from", tuning->from_store ? "store" : "race"},
                      {"compiles", tuning->compiles},
                      {"rounds_kept", tuning->rounds_kept},
                      {"rounds_discarded", tuning->rounds_discarded}});
}

// Without a compiler nothing could be tuned again; the times of the host device mean nothing, but
// whoever asks for checks there gets them.
std::chrono::seconds quiet_of(const std::optional<std::int64_t>& drift_check_s, DeviceKind kind,
                              const Result<std::string>& compiler) {
  if (!compiler) return std::chrono::seconds(0);
  return std::chrono::seconds(
      drift_check_s.value_or(kind == DeviceKind::host ? 0 : limits::drift_check_s));
}

}  // namespace

Result<std::unique_ptr<ServedDevice>> ServedDevice::start(Parts parts) {
  auto serving = ServingThread::start({.device = parts.name,
                                       .turn_directory = parts.turn_directory,
                                       .queue_max = limits::serving_queue_max,
                                       .lost = parts.lost,
                                       .log = parts.log});
  if (!serving) return fail(std::move(serving.error()));
  return std::unique_ptr<ServedDevice>(new ServedDevice(std::move(parts), std::move(*serving)));
}

ServedDevice::ServedDevice(Parts parts, std::unique_ptr<ServingThread> serving)
    : parts_(std::move(parts)),
      serving_(std::move(serving)),
      fingerprint_(make_fingerprint(spec(), identity().mig, identity().power_limit_w)),
      compiler_(compiler_version(spec().architecture(), {.nvrtc_library = parts_.nvrtc_library})),
      tuner_(std::make_unique<Tuner>(TunerParts{.store = parts_.store,
                                                .worker = parts_.worker,
                                                .device = parts_.name,
                                                .spec = spec(),
                                                .identity = identity(),
                                                .compile_workers = parts_.compile_workers,
                                                .turn_directory = parts_.turn_directory,
                                                .tuned_by = "normd " NORMD_VERSION,
                                                .stop_point = parts_.stop_point})),
      resolver_(std::make_unique<Resolver>(Resolver::Parts{
          .store = parts_.store,
          .serving = serving_.get(),
          .tune = [this](const TuneRequest& request,
                         const std::function<void(const TuneProgress&)>& progress,
                         std::stop_token stop) { return tune(request, progress, std::move(stop)); },
          .fingerprint = fingerprint_,
          .compiler = compiler_.value_or(""),
          .admission = parts_.admission,
          .counters = parts_.counters,
          .log = parts_.log,
          .tuning_budget_ms = parts_.tuning_budget_ms})),
      drift_(std::make_unique<DriftWatch>(
          DriftWatch::Parts{.quiet = quiet_of(parts_.drift_check_s, spec().kind, compiler_),
                            .store = parts_.store,
                            .serving = serving_.get(),
                            .tuner = tuner_.get(),
                            .resolver = resolver_.get(),
                            .counters = parts_.counters,
                            .log = parts_.log})) {}

// What runs on the thread that tunes may be the watch's.
ServedDevice::~ServedDevice() {
  resolver_->stop_tuning();
}

Result<std::optional<Tuning>> ServedDevice::tune(
    const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
    std::stop_token stop) {
  const auto begun = Clock::now();
  auto tuning = tuner_->tune_unless_elsewhere(request, progress, std::move(stop));
  if (tuning && !*tuning) return tuning;  // it goes on when the other process is done
  const Key key = make_key(request.problem, spec(), fingerprint_, request.mode);
  log_tuning(*parts_.log, to_text(key), begun, tuning);
  return tuning;
}

void ServedDevice::run(RunAsk ask, std::shared_ptr<Cancellation> cancellation, Done done) {
  const auto shared = std::make_shared<RunAsk>(std::move(ask));
  resolver_->resolve(shared->resolve, std::move(cancellation),
                     [this, shared, done = std::move(done)](Result<Resolved> resolved) {
                       if (!resolved) return done(fail(std::move(resolved.error())));
                       serve(shared, std::move(*resolved), done);
                     });
}

void ServedDevice::serve(std::shared_ptr<RunAsk> ask, Resolved resolved, Done done) {
  ServeJob job{.kernel = resolved.kernel,
               .problem = ask->resolve.problem,
               .x_row_stride = ask->x_row_stride,
               .epsilon = ask->epsilon,
               .tensors = ask->tensors};
  job.done = [this, ask, resolved, done](Result<ServeTimes> times) {
    if (times) {
      return done(RunOutcome{resolved.origin, resolved.kernel->candidate, resolved.key, *times});
    }
    if (resolved.kernel->fallback || !kernel_at_fault(times.error())) {
      return done(fail(std::move(times.error())));
    }
    resolver_->quarantine(resolver_->key_of(ask->resolve.problem, ask->resolve.mode),
                          resolved.kernel->binary_digest, times.error());
    serve(ask, {serving_->fallback(), Origin::fallback, resolved.key}, done);
  };
  if (auto queued = serving_->submit(std::move(job)); !queued) {
    done(fail(std::move(queued.error())));
  }
}

}  // namespace normd
