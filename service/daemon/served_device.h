// ServedDevice: one device with everything that serves it: its serving thread, its resolver, its
// tuner. Made at start, lives until the daemon stops; every method may be called from any thread
// and none blocks on the device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/daemon/drift_watch.h"
#include "service/daemon/resolver.h"
#include "service/daemon/serving_thread.h"
#include "tuner/tuner.h"

namespace normd {

struct RunAsk {
  ResolveAsk resolve;
  std::int64_t x_row_stride = 0;
  float epsilon = 0;
  ServeTensors tensors;
};

struct RunOutcome {
  Origin origin = Origin::none;
  std::string candidate;
  std::string key;
  ServeTimes times;
};

class ServedDevice {
 public:
  struct Parts {
    std::string name;  // for open_device
    int index = 0;     // in the daemon's list
    Store* store = nullptr;
    std::vector<std::string> worker;  // command of a worker process
    std::string turn_directory;
    int compile_workers = 0;
    std::string nvrtc_library;  // empty: searched for
    std::int64_t tuning_budget_ms = 0;
    std::optional<std::int64_t> drift_check_s;  // as the configuration has it
    StopPoint stop_point;                       // for kill tests
    Admission* admission = nullptr;
    ServingCounters* counters = nullptr;
    const Log* log = nullptr;
    std::function<void(const Error&)> lost;
  };
  static Result<std::unique_ptr<ServedDevice>> start(Parts parts);
  ~ServedDevice();

  int index() const { return parts_.index; }
  const DeviceSpec& spec() const { return serving_->spec(); }
  const DeviceIdentity& identity() const { return serving_->identity(); }
  const Fingerprint& fingerprint() const { return fingerprint_; }
  // That tunings use, or what is missing.
  const Result<std::string>& compiler() const { return compiler_; }
  Resolver& resolver() { return *resolver_; }
  Tuner::Counters tuner_counters() const { return tuner_->counters(); }
  std::vector<std::string> take_used() { return serving_->take_used(); }

  void watch_for_drift() { drift_->tick(); }  // one thread, about once a second

  // `done` runs once, on any thread, unless the call was cancelled while it waited for a tuning.
  // The tensors stay valid until it has run, and the spans of the outputs until then too.
  using Done = std::function<void(Result<RunOutcome>)>;
  void run(RunAsk ask, std::shared_ptr<Cancellation> cancellation, Done done);

 private:
  ServedDevice(Parts parts, std::unique_ptr<ServingThread> serving);
  // On the queue's thread. None: another process is at it.
  Result<std::optional<Tuning>> tune(const TuneRequest& request,
                                     const std::function<void(const TuneProgress&)>& progress,
                                     std::stop_token stop);
  void serve(std::shared_ptr<RunAsk> ask, Resolved resolved, Done done);

  const Parts parts_;
  // In the order in which they need each other; gone in the opposite order.
  std::unique_ptr<ServingThread> serving_;
  Fingerprint fingerprint_;
  Result<std::string> compiler_;
  std::unique_ptr<Tuner> tuner_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<DriftWatch> drift_;
};

}  // namespace normd
