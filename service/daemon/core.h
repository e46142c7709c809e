// Core: what the handlers call, in the daemon's own words and without a wire format: the devices,
// the store, the counters and the limits. Made by main, constant in shape afterwards; any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/daemon/admission.h"
#include "service/daemon/config.h"
#include "service/daemon/counters.h"
#include "service/daemon/log.h"
#include "service/daemon/served_device.h"
#include "service/daemon/store_watch.h"
#include "service/daemon/task_thread.h"
#include "tuner/store/store.h"

namespace normd {

class Core {
 public:
  struct Parts {
    const Config* config = nullptr;
    const Log* log = nullptr;
    std::unique_ptr<Store> store;
    std::vector<std::string> worker;
    std::string turn_directory;
    StopPoint stop_point;  // for kill tests
    std::function<void(const Error&)> lost;
  };
  explicit Core(Parts parts);
  ~Core();
  Core(const Core&) = delete;  // devices and tasks refer to this object

  Result<void> start_device(const std::string& name);

  // The device a request names: empty is the first; a UUID or an index of the list. Otherwise
  // invalid_argument.
  Result<ServedDevice*> find_device(std::string_view name) const;
  const std::vector<std::unique_ptr<ServedDevice>>& devices() const { return devices_; }

  Store& store() { return *parts_.store; }
  const Config& config() const { return *parts_.config; }
  const Log& log() const { return *parts_.log; }
  // Of the first device, or why there is none; once a device is started.
  std::string compiler() const;
  Admission& admission() { return admission_; }
  ServingCounters& counters() { return counters_; }
  // Where requests that read the store are answered, one after the other.
  TaskThread& control() { return *control_; }

  std::int64_t uptime_ms() const;
  bool serving() const { return serving_; }
  void set_serving(bool serving) { serving_ = serving; }
  // All devices are there: from here on their list does not change, and the store is looked after.
  void set_started() { started_ = true; }

  Result<std::int64_t> forget(const Key& key);  // on the control thread

  // Ends what waits for tunings. Answers already on their way are still given.
  void stop();

 private:
  void look_for_changes();
  void look_for_drift();
  void look_after_store();

  Parts parts_;
  Admission admission_;
  ServingCounters counters_;
  StoreWatch store_watch_;  // the control thread's
  std::atomic<bool> serving_{false};
  std::atomic<bool> started_{false};
  const std::chrono::steady_clock::time_point started_at_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<ServedDevice>> devices_;
  std::unique_ptr<TaskThread> control_;  // gone before the devices: its tasks use them
};

// Every limit by its name, for GetStatus.
std::vector<std::pair<std::string_view, std::int64_t>> all_limits();

}  // namespace normd
