#include "service/cli/stored.h"

#include <array>

namespace normd {
namespace {

template <typename Repeated>
void append(const std::vector<Measurement>& measurements, Repeated* messages) {
  for (const Measurement& measurement : measurements) *messages->Add() = to_message(measurement);
}

}  // namespace

v1::Measurement to_message(const Measurement& measurement) {
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

v1::Trial to_message(const Trial& trial) {
  v1::Trial message;
  message.set_candidate(to_text(trial.candidate));
  message.set_verdict(std::string(verdict_kind_name(trial.verdict.kind)));
  if (trial.verdict.reason != Reason::none) {
    message.set_reason(std::string(reason_name(trial.verdict.reason)));
  }
  message.set_detail(trial.verdict.detail);
  append(trial.verdict.measurements, message.mutable_measurements());
  message.set_error_over_bound(trial.verdict.error_over_bound);
  message.set_registers(trial.registers);
  message.set_spill_bytes(trial.spill_bytes);
  message.set_shared_bytes(trial.shared_bytes);
  message.set_blocks_per_sm(trial.blocks_per_sm);
  return message;
}

v1::Winner to_message(const Winner& winner) {
  v1::Winner message;
  message.set_key(to_text(winner.key));
  message.set_candidate(to_text(winner.candidate));
  message.set_template_digest(winner.template_digest);
  message.set_binary_digest(winner.binary_digest);
  append(winner.measurements, message.mutable_measurements());
  message.set_default_candidate(to_text(winner.default_candidate));
  append(winner.default_measurements, message.mutable_default_measurements());
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

v1::TuneProgress to_message(const TuneProgress& progress) {
  constexpr std::array stages = {"", "queued", "compiling", "racing", "done"};
  v1::TuneProgress message;
  message.set_stage(stages[static_cast<std::size_t>(progress.stage)]);
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
