#include "service/daemon/core.h"

#include "kernels/text.h"

namespace normd {
namespace {

// Listings and explanations waiting at once; each reads the store for a moment.
constexpr std::size_t control_tasks_max = 1024;

// How often the store looks after its file: whether it is still there, and what waits to be
// written.
constexpr int tidy_every_s = 5;

}  // namespace

Core::Core(Parts parts)
    : parts_(std::move(parts)),
      admission_({.in_flight_bytes_max = limits::in_flight_bytes_max,
                  .waiting_calls_max = limits::waiting_calls_max}),
      store_watch_(store().status(), log()),
      control_(std::make_unique<TaskThread>(control_tasks_max, [this, ticks = 0]() mutable {
        look_for_changes();
        look_for_drift();
        if (++ticks % tidy_every_s == 0) look_after_store();
      })) {}

Core::~Core() {
  stop();
  control_.reset();
}

Result<void> Core::start_device(const std::string& name) {
  auto device = ServedDevice::start({.name = name,
                                     .index = static_cast<int>(devices_.size()),
                                     .store = parts_.store.get(),
                                     .worker = parts_.worker,
                                     .turn_directory = parts_.turn_directory,
                                     .compile_workers = config().compile_workers,
                                     .nvrtc_library = config().nvrtc_library,
                                     .tuning_budget_ms = config().tuning_budget_ms,
                                     .drift_check_s = config().drift_check_s,
                                     .stop_point = parts_.stop_point,
                                     .admission = &admission_,
                                     .counters = &counters_,
                                     .log = parts_.log,
                                     .lost = parts_.lost});
  if (!device) return fail(std::move(device.error()));
  devices_.push_back(std::move(*device));
  return {};
}

Result<ServedDevice*> Core::find_device(std::string_view name) const {
  if (name.empty()) return devices_.front().get();
  const auto index = parse_integer(name);
  for (const auto& device : devices_) {
    if (device->identity().uuid == name || (index && *index == device->index()))
      return device.get();
  }
  return fail(ErrorCode::invalid_argument,
              "no device '" + std::string(name.substr(0, 64)) +
                  "' is served here; `normctl devices` lists them",
              "device");
}

std::string Core::compiler() const {
  const Result<std::string>& version = devices_.front()->compiler();
  return version ? *version : "none: " + version.error().message;
}

std::int64_t Core::uptime_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               started_at_)
      .count();
}

Result<std::int64_t> Core::forget(const Key& key) {
  auto removed = store().forget(key);
  for (const auto& device : devices_) device->resolver().drop(key);
  if (removed && *removed == 0) {
    return fail(ErrorCode::not_found, "nothing is stored for this key", "key");
  }
  return removed;
}

void Core::look_for_changes() {
  if (!started_ || !store().changed_by_others()) return;
  for (const auto& device : devices_) device->resolver().review();
}

void Core::look_for_drift() {
  if (!started_) return;
  for (const auto& device : devices_) device->watch_for_drift();
}

void Core::look_after_store() {
  if (!started_) return;
  for (const auto& device : devices_) store().note_used(device->take_used());
  static_cast<void>(store().tidy());  // what stands in the way is in the status
  store_watch_.look(store().status());
}

void Core::stop() {
  for (const auto& device : devices_) device->resolver().stop_tuning();
}

std::vector<std::pair<std::string_view, std::int64_t>> all_limits() {
  return {{"elements_max", limits::elements_max},
          {"columns_max", limits::columns_max},
          {"rows_max", limits::rows_max},
          {"message_bytes_max", limits::message_bytes_max},
          {"in_flight_bytes_max", limits::in_flight_bytes_max},
          {"connections_max", limits::connections_max},
          {"serving_queue_max", limits::serving_queue_max},
          {"tuning_queue_max", limits::tuning_queue_max},
          {"waiting_calls_max", limits::waiting_calls_max},
          {"spill_bytes_max", limits::spill_bytes_max},
          {"tuning_budget_ms", limits::tuning_budget_ms},
          {"tuning_budget_ms_max", limits::tuning_budget_ms_max},
          {"drift_check_s", limits::drift_check_s},
          {"drift_check_s_max", limits::drift_check_s_max},
          {"trial_ms_max", limits::trial_ms_max},
          {"compile_ms_max", limits::compile_ms_max},
          {"tuning_memory_bytes_max", limits::tuning_memory_bytes_max},
          {"kernels_in_memory_max", limits::kernels_in_memory_max},
          {"store_bytes_max", limits::store_bytes_max},
          {"status_message_bytes_max", limits::status_message_bytes_max},
          {"status_details_bytes_max", limits::status_details_bytes_max}};
}

}  // namespace normd
