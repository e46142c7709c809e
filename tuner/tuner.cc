#include "tuner/tuner.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "kernels/catalog_digest.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "kernels/source.h"
#include "tuner/compile_pool.h"
#include "tuner/remeasuring.h"
#include "tuner/trial_worker.h"
#include "tuner/tuning_plan.h"
#include "tuner/tuning_run.h"
#include "tuner/usable_winner.h"

namespace normd {
namespace {

// Long enough for a holder that compiles through a busy moment, short enough that a key is not lost
// for long when its holder is killed.
constexpr std::int64_t lease_ms = 10'000;
constexpr auto lease_poll = std::chrono::milliseconds(50);

// Points inside a worker are reached by the first process of each sort alone; those after it must
// be able to go on.
WorkerCommand worker_command(const TunerParts& parts) {
  WorkerCommand command{.words = parts.worker, .first_only = {}};
  if (parts.stop_point.name.rfind("worker.", 0) == 0) {
    command.first_only = {"--stop-point", parts.stop_point.name};
  }
  return command;
}

}  // namespace

struct Tuner::State {
  TunerParts parts;
  Fingerprint fingerprint;
  CompilePool pool;
  TrialWorker worker;
  std::atomic<std::int64_t> tunings = 0, compiles = 0, compiles_elsewhere = 0, gates = 0;
  std::atomic<std::int64_t> refusals = 0;
  std::atomic<int> trial_restarts = 0;

  explicit State(TunerParts given)
      : parts(std::move(given)),
        fingerprint(make_fingerprint(parts.spec, parts.identity.mig, parts.identity.power_limit_w)),
        pool(worker_command(parts),
             parts.compile_workers > 0 ? parts.compile_workers : default_compile_workers()),
        worker(worker_command(parts), parts.device, parts.turn_directory) {}

  Result<std::optional<Tuning>> from_store(const Key& key) {
    StoredWinner stored = find_usable_winner(*parts.store, key, parts.spec);
    if (!stored.usable()) return std::nullopt;
    auto trials = parts.store->find_trials(key);
    if (!trials) return fail(std::move(trials.error()));
    return Tuning{
        .winner = std::move(*stored.winner), .trials = std::move(*trials), .from_store = true};
  }

  Winner winner_of(const Key& key, const TuningRun& run, std::int64_t elapsed_ms) const {
    const TuningRun::Chosen& chosen = *run.chosen();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return Winner{.key = key,
                  .candidate = chosen.trial.candidate,
                  .launch = chosen.launch,
                  .template_digest = template_digest(chosen.trial.candidate.template_name),
                  .binary_digest = chosen.trial.binary_digest,
                  .measurements = chosen.trial.verdict.measurements,
                  .default_candidate = chosen.by_default.candidate,
                  .default_measurements = chosen.by_default.verdict.measurements,
                  .ties = chosen.ties,
                  .device_name = parts.identity.name,
                  .device_uuid = parts.identity.uuid,
                  .driver = parts.identity.driver,
                  .compiler = chosen.trial.compiler,
                  .catalog_digest = catalog_digest(key, parts.spec),
                  .tuned_by = parts.tuned_by,
                  .tuned_at_unix_s = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                  .tuning_ms = elapsed_ms,
                  .pinned = false};
  }

  // Everything between having the right to tune and giving it back. None: the right was lost.
  Result<std::optional<Tuning>> run(const TuningRunParts& run_parts,
                                    std::chrono::steady_clock::time_point begun,
                                    bool on_tuning_thread) {
    ++tunings;
    TuningRun run(run_parts);
    auto ran = run.run();
    compiles += run.compiles();
    if (!on_tuning_thread) compiles_elsewhere += run.compiles();
    gates += run.gates();
    refusals += run.refusals();
    trial_restarts = worker.restarts();
    worker.rest();
    if (run.taken_over()) return std::nullopt;
    if (!ran) return fail(std::move(ran.error()));
    const auto elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                                std::chrono::steady_clock::now() - begun)
                                .count();
    Tuning tuning{.winner = std::nullopt,
                  .trials = run.trials(),
                  .from_store = false,
                  .compiles = run.compiles(),
                  .rounds_kept = run.rounds_kept(),
                  .rounds_discarded = run.rounds_discarded(),
                  .elapsed_ms = elapsed_ms};
    if (!run.chosen()) return tuning;
    tuning.winner = winner_of(run_parts.key, run, elapsed_ms);
    auto stored = parts.store->put_winner(*tuning.winner, run.raced());
    if (!stored) return fail(std::move(stored.error()));
    parts.stop_point.reach("tuning.winner_stored");
    return tuning;
  }
};

Tuner::Tuner(TunerParts parts) : state_(std::make_unique<State>(std::move(parts))) {
  NORMD_CHECK(state_->parts.store != nullptr);
}
Tuner::~Tuner() = default;

Result<Tuning> Tuner::tune(const TuneRequest& request,
                           const std::function<void(const TuneProgress&)>& progress,
                           std::stop_token stop) {
  TuneRequest asked = request;
  while (true) {
    auto tuning = tune_unless_elsewhere(asked, progress, stop);
    if (!tuning) return fail(std::move(tuning.error()));
    if (*tuning) return std::move(**tuning);
    if (stop.stop_requested())
      return fail(ErrorCode::unavailable, "stopped while another process tuned the key");
    asked.was_elsewhere = true;
    std::this_thread::sleep_for(lease_poll);
  }
}

Result<std::optional<Tuning>> Tuner::tune_unless_elsewhere(
    const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
    std::stop_token stop) {
  const auto begun = std::chrono::steady_clock::now();
  const StopPoint& stop_point = state_->parts.stop_point;
  stop_point.reach("tuning.begun");
  if (auto valid = validate(request.problem); !valid) return fail(std::move(valid.error()));
  const Key key = make_key(request.problem, state_->parts.spec, state_->fingerprint, request.mode);
  auto plan = make_tuning_plan(request, key, state_->parts.spec);
  if (!plan) return fail(std::move(plan.error()));

  std::optional<Lease> lease;
  if (plan->grade == Grade::exact) {
    const bool of_all = request.template_name.empty();
    if (of_all && !request.again) {
      auto found = state_->from_store(key);
      if (!found || *found) return found;
    }
    auto taken = state_->parts.store->try_lease(key, lease_ms);
    if (!taken) return fail(std::move(taken.error()));
    if (!*taken) return std::nullopt;
    // Looked up again under the lease, or a winner stored in between would be tuned twice.
    if (of_all && (!request.again || request.was_elsewhere)) {
      auto found = state_->from_store(key);
      if (!found || *found) return found;
    }
    lease = std::move(*taken);
    if (of_all) seed(*plan, key, state_->parts.spec, *state_->parts.store);
  }
  stop_point.reach("tuning.lease_taken");
  const TuningRunParts parts{
      .store = state_->parts.store,
      .pool = &state_->pool,
      .worker = &state_->worker,
      .lease = lease ? &*lease : nullptr,
      .spec = state_->parts.spec,
      .key = key,
      .grade = plan->grade,
      .candidates = std::move(plan->candidates),
      .order = std::move(plan->order),
      .budget_ms = request.budget_ms > 0 ? request.budget_ms : limits::tuning_budget_ms,
      .everything = request.everything,
      .stop_point = stop_point,
      .progress = progress,
      .stop = stop};
  auto tuning = state_->run(parts, begun, std::this_thread::get_id() == request.tuning_thread);
  lease.reset();
  stop_point.reach("tuning.lease_released");
  return tuning;
}

Result<std::vector<Measurement>> Tuner::remeasure(const Winner& winner, const Binary& binary,
                                                  const std::stop_token& stop) {
  auto measured = normd::remeasure(state_->worker, state_->parts.spec, winner, binary, stop);
  state_->trial_restarts = state_->worker.restarts();
  return measured;
}

Tuner::Counters Tuner::counters() const {
  return Counters{.tunings = state_->tunings,
                  .compiles = state_->compiles,
                  .compiles_elsewhere = state_->compiles_elsewhere,
                  .gates = state_->gates,
                  .refusals = state_->refusals,
                  .workers_restarted = state_->trial_restarts + state_->pool.workers_restarted()};
}

}  // namespace normd
