// Tuner: from a problem to a winner on one device. It enumerates, has workers compile ahead, has a
// trial worker gate and race the candidates, chooses, and commits every result to the Store as it
// comes. It owns no thread but its compile pool's; tune() blocks the calling thread and one Tuner
// runs one tuning at a time. It never touches the device itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kernels/key.h"
#include "tuner/device/device.h"
#include "tuner/stop_point.h"
#include "tuner/store/store.h"
#include "tuner/trial.h"

namespace normd {

struct TuneRequest {
  Problem problem;
  BucketMode mode = BucketMode::bucketed;
  std::int64_t budget_ms = 0;  // 0: limits::tuning_budget_ms
  std::string template_name;   // only this template's candidates; a taught one stores no winner
  int candidates_max = 0;      // 0: no limit, in the cost model's order, until the budget ends
  bool everything = false;     // also what does not pay (template.h), and to the end of the budget
  bool again = false;          // tune although the store has a winner
  bool was_elsewhere = false;  // another process was at it: what it left will do, also for `again`
  // The thread that is there for tuning; TuningQueue names its own. What a tuning on any other
  // thread compiles is counted apart: somebody may be waiting for that thread.
  std::thread::id tuning_thread;
};

enum class TuneStage : std::uint8_t { queued = 1, compiling = 2, racing = 3, done = 4 };

struct TuneProgress {
  TuneStage stage = TuneStage::queued;
  int candidates = 0;  // to be tried
  int compiled = 0;
  int gated = 0;  // passed the gate
  int refused = 0;
  double best_ns = 0;  // so far, at the bucket's larger edge
  double copy_ns = 0;  // of the control copy there
  std::string best;    // canonical text
  std::int64_t elapsed_ms = 0;
  // Of the race: those whose samples count, and those thrown away because something else used the
  // device, or it was held back, or its clock moved (race.h).
  int rounds_kept = 0;
  int rounds_discarded = 0;
  // Set once the default has passed the gate: it may be served while the race goes on. Empty again
  // if it fails there.
  std::string default_candidate;
  std::string default_binary_digest;  // in the Store by then
};

struct Tuning {
  std::optional<Winner> winner;  // none: only taught templates were asked for
  std::vector<Trial> trials;     // all of them, best first, then refusals
  bool from_store = false;       // another process or an earlier run had tuned it
  int compiles = 0;              // done by this tuning
  int rounds_kept = 0;           // of its race, as in TuneProgress
  int rounds_discarded = 0;
  std::int64_t elapsed_ms = 0;
};

struct TunerParts {
  Store* store = nullptr;           // outlives the Tuner
  std::vector<std::string> worker;  // command of the worker process
  std::string device;               // name for open_device, in the worker
  DeviceSpec spec;
  DeviceIdentity identity;
  int compile_workers = 0;     // 0: default_compile_workers() of compile_pool.h
  std::string turn_directory;  // where the per-device turn lock lives (device_turn.h)
  std::string tuned_by;        // program and version, recorded with winners
  StopPoint stop_point;        // for kill tests
};

class Tuner {
 public:
  explicit Tuner(TunerParts parts);
  ~Tuner();

  // None while another process tunes the key: its winner will be in the store, so ask again in a
  // moment, with `was_elsewhere`.
  // Errors: invalid_argument (no candidate fits, unknown template), failed_precondition (no usable
  // compiler, or no candidate passed within the budget: each reason is in the message),
  // unavailable (stopped, device busy), internal (the trial worker failed). Nothing that is not
  // sound is stored.
  Result<std::optional<Tuning>> tune_unless_elsewhere(
      const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
      std::stop_token stop);

  // The same for a caller that has nothing else to do: waits for the other process.
  Result<Tuning> tune(const TuneRequest& request,
                      const std::function<void(const TuneProgress&)>& progress,
                      std::stop_token stop);

  // The times of a stored winner now (remeasuring.h), on the thread that tunes.
  Result<std::vector<Measurement>> remeasure(const Winner& winner, const Binary& binary,
                                             const std::stop_token& stop);

  // What `normctl show` prints of every trial is stored; these counters are for status.
  struct Counters {
    std::int64_t tunings = 0;
    std::int64_t compiles = 0;
    std::int64_t compiles_elsewhere = 0;  // of them, not on the tuning thread
    std::int64_t gates = 0;
    std::int64_t refusals = 0;
    std::int64_t workers_restarted = 0;
  };
  Counters counters() const;  // any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace normd
