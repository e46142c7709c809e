#include "service/daemon/handlers/get_status.h"

#include <unistd.h>

#include "service/daemon/core.h"
#include "service/daemon/utf8.h"

namespace normd {
namespace {

constexpr std::size_t text_bytes_max = 1024;

v1::DeviceStatus write_device(const Core& core, ServedDevice& device) {
  const TuningQueue::Depth depth = device.resolver().depth();
  v1::DeviceStatus message;
  message.set_uuid(device.identity().uuid);
  message.set_name(cut_utf8(device.identity().name, text_bytes_max));
  message.set_index(device.index());
  message.set_kind(device.spec().kind == DeviceKind::host ? "host" : "cuda");
  message.set_fingerprint(to_text(device.fingerprint()));
  message.set_driver(cut_utf8(device.identity().driver, text_bytes_max));
  // A lost device ends the process, so that none is ever listed here.
  message.set_state(core.serving() ? "serving" : "starting or stopping");
  message.set_kernels_loaded(static_cast<int>(device.resolver().kernels_loaded()));
  message.set_tunings_queued(depth.queued);
  message.set_tunings_running(depth.running);
  message.set_calls_waiting(depth.waiters);
  message.set_tunings_in_background(depth.in_background);
  return message;
}

void write_counters(Core& core, v1::Counters& message) {
  const ServingCounters& counters = core.counters();
  message.set_runs(counters.runs);
  message.set_runs_from_memory(counters.runs_from_memory);
  message.set_runs_from_store(counters.runs_from_store);
  message.set_runs_joined(counters.runs_joined);
  message.set_runs_tuned(counters.runs_tuned);
  message.set_runs_default(counters.runs_default);
  message.set_runs_fallback(counters.runs_fallback);
  message.set_runs_refused(counters.runs_refused);
  message.set_winners_quarantined(counters.winners_quarantined);
  message.set_retunes(counters.retunes);
  message.set_drift_checks(counters.drift_checks);
  Tuner::Counters tuned;
  for (const auto& device : core.devices()) {
    const Tuner::Counters of_device = device->tuner_counters();
    tuned.tunings += of_device.tunings;
    tuned.compiles += of_device.compiles;
    tuned.compiles_elsewhere += of_device.compiles_elsewhere;
    tuned.gates += of_device.gates;
    tuned.refusals += of_device.refusals;
    tuned.workers_restarted += of_device.workers_restarted;
  }
  message.set_tunings(tuned.tunings);
  message.set_compiles(tuned.compiles);
  // Only a tuning compiles, in workers; on the queue's own thread no request waits for it unasked.
  message.set_compiles_on_request_path(tuned.compiles_elsewhere);
  message.set_gates(tuned.gates);
  message.set_refusals(tuned.refusals);
  message.set_workers_restarted(tuned.workers_restarted);
}

void write_store(const StoreStatus& status, v1::StoreStatus& message) {
  message.set_path(cut_utf8(status.path, text_bytes_max));
  message.set_persistent(status.persistent);
  message.set_degraded_reason(cut_utf8(status.degraded_reason, text_bytes_max));
  message.set_set_aside(cut_utf8(status.set_aside, text_bytes_max));
  message.set_schema_version(status.schema_version);
  message.set_winners(status.winners);
  message.set_trials(status.trials);
  message.set_binaries(status.binaries);
  message.set_file_bytes(status.file_bytes);
  message.set_wal_bytes(status.wal_bytes);
  message.set_rows_waiting(status.rows_waiting);
  message.set_rows_unreadable(status.rows_unreadable);
}

}  // namespace

Result<v1::GetStatusResponse> get_status(Core& core, const v1::GetStatusRequest&) {
  v1::GetStatusResponse response;
  response.set_version(NORMD_VERSION);
  response.set_pid(getpid());
  response.set_uptime_ms(core.uptime_ms());
  response.set_socket(cut_utf8(core.config().socket.path, text_bytes_max));
  response.set_compiler(cut_utf8(core.compiler(), text_bytes_max));
  for (const auto& device : core.devices()) *response.add_devices() = write_device(core, *device);
  write_counters(core, *response.mutable_counters());
  write_store(core.store().status(), *response.mutable_store());
  for (const auto& [name, value] : all_limits()) {
    auto* limit = response.add_limits();
    limit->set_name(std::string(name));
    limit->set_value(value);
  }
  response.set_health(core.serving() ? "SERVING" : "NOT_SERVING");
  return response;
}

}  // namespace normd
