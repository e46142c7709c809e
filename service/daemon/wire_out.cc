#include "service/daemon/utf8.h"
#include "service/daemon/wire.h"

namespace normd {
namespace {

// Of one trial's detail, which may be a compiler's log; the store has all of it.
constexpr std::size_t detail_bytes_max = 4096;

std::string_view stage_name(TuneStage stage) {
  switch (stage) {
    case TuneStage::queued:
      return "queued";
    case TuneStage::compiling:
      return "compiling";
    case TuneStage::racing:
      return "racing";
    case TuneStage::done:
      return "done";
  }
  return "queued";
}

}  // namespace

v1::Origin write_origin(Origin origin) {
  return static_cast<v1::Origin>(origin);
}

v1::Measurement write_measurement(const Measurement& measurement) {
  v1::Measurement message;
  message.set_rows(measurement.rows);
  message.set_warm(measurement.cache == CacheState::warm);
  message.set_median_ns(measurement.median_ns);
  message.set_low_ns(measurement.low_ns);
  message.set_high_ns(measurement.high_ns);
  message.set_samples(measurement.samples);
  message.set_copy_ns(measurement.copy_ns);
  message.set_sm_clock_mhz(measurement.sm_clock_mhz);
  return message;
}

v1::Trial write_trial(const Trial& trial) {
  v1::Trial message;
  message.set_candidate(to_text(trial.candidate));
  message.set_verdict(std::string(verdict_kind_name(trial.verdict.kind)));
  if (trial.verdict.reason != Reason::none) {
    message.set_reason(std::string(reason_name(trial.verdict.reason)));
  }
  message.set_detail(cut_utf8(trial.verdict.detail, detail_bytes_max));
  for (const Measurement& measurement : trial.verdict.measurements) {
    *message.add_measurements() = write_measurement(measurement);
  }
  message.set_error_over_bound(trial.verdict.error_over_bound);
  message.set_registers(trial.registers);
  message.set_spill_bytes(trial.spill_bytes);
  message.set_shared_bytes(trial.shared_bytes);
  message.set_blocks_per_sm(trial.blocks_per_sm);
  return message;
}

v1::Winner write_winner(const Winner& winner) {
  v1::Winner message;
  message.set_key(to_text(winner.key));
  message.set_candidate(to_text(winner.candidate));
  message.set_template_digest(winner.template_digest);
  message.set_binary_digest(winner.binary_digest);
  for (const Measurement& measurement : winner.measurements) {
    *message.add_measurements() = write_measurement(measurement);
  }
  message.set_default_candidate(to_text(winner.default_candidate));
  for (const Measurement& measurement : winner.default_measurements) {
    *message.add_default_measurements() = write_measurement(measurement);
  }
  for (const Candidate& tie : winner.ties) message.add_ties(to_text(tie));
  message.set_device_name(winner.device_name);
  message.set_device_uuid(winner.device_uuid);
  message.set_driver(winner.driver);
  message.set_compiler(winner.compiler);
  message.set_tuned_by(winner.tuned_by);
  message.set_tuned_at_unix_s(winner.tuned_at_unix_s);
  message.set_tuning_ms(winner.tuning_ms);
  message.set_pinned(winner.pinned);
  return message;
}

v1::TuneProgress write_progress(const TuneProgress& progress) {
  v1::TuneProgress message;
  message.set_stage(std::string(stage_name(progress.stage)));
  message.set_candidates(progress.candidates);
  message.set_compiled(progress.compiled);
  message.set_gated(progress.gated);
  message.set_refused(progress.refused);
  message.set_best_ns(progress.best_ns);
  message.set_copy_ns(progress.copy_ns);
  message.set_best(progress.best);
  message.set_elapsed_ms(progress.elapsed_ms);
  message.set_rounds_kept(progress.rounds_kept);
  message.set_rounds_discarded(progress.rounds_discarded);
  return message;
}

}  // namespace normd
