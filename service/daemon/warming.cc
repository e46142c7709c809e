#include "service/daemon/warming.h"

#include <condition_variable>
#include <memory>

#include "service/daemon/core.h"

namespace normd {
namespace {

// Tunings asked for and not finished: far below what the queue and the callers' cap take, so that
// requests have room beside them.
constexpr int under_way_max = 64;

// Outlives this thread's part in it: a tuning that is stopped may end later.
struct Tunings {
  struct Counts {
    int under_way = 0;
    int tuned = 0;
    int failed = 0;
  };
  Guarded<Counts> counts;
  std::condition_variable_any changed;
};

struct Shape {
  ServedDevice* device = nullptr;
  Problem problem;
  BucketMode mode = BucketMode::bucketed;
  bool again = false;  // there is a winner, which cannot be served
};

// Loads what is stored. What is left, to be tuned.
std::vector<Shape> load_stored(Core& core, const std::vector<WarmShape>& shapes,
                               const std::stop_token& stop) {
  std::vector<Shape> missing;
  for (const WarmShape& shape : shapes) {
    for (const auto& device : core.devices()) {
      if (stop.stop_requested()) return missing;
      // As Run has it: the daemon's own memory is aligned to anything.
      Problem problem = shape.problem;
      problem.align_bytes = device->spec().vector_bytes_max;
      const Resolver::Warmed warmed = device->resolver().warm(problem, shape.mode);
      if (!warmed.loaded) {
        missing.push_back({device.get(), problem, shape.mode, warmed.unusable_winner});
      }
    }
  }
  return missing;
}

// Causes a tuning, or joins one that a request has caused.
void tune(Core& core, const Shape& shape, const std::shared_ptr<Tunings>& tunings) {
  ++tunings->counts.lock()->under_way;
  const std::string key = to_text(shape.device->resolver().key_of(shape.problem, shape.mode));
  const auto finished = [&log = core.log(), key, tunings](const Result<Tuning>& tuning) {
    if (!tuning) log.warning("not_warmed", {{"key", key}, {"reason", tuning.error()}});
    {
      const auto counts = tunings->counts.lock();
      --counts->under_way;
      ++(tuning ? counts->tuned : counts->failed);
    }
    tunings->changed.notify_all();
  };
  const TuneRequest request{.problem = shape.problem,
                            .mode = shape.mode,
                            .budget_ms = core.config().tuning_budget_ms,
                            .again = shape.again};
  Cancellation never;
  const auto asked = shape.device->resolver().tune(request, "warm", {.finished = finished}, never);
  if (!asked) finished(fail(asked.error()));
}

}  // namespace

bool warm_up(Core& core, const std::vector<WarmShape>& shapes, const std::stop_token& stop) {
  if (shapes.empty()) return !stop.stop_requested();
  const std::vector<Shape> missing = load_stored(core, shapes, stop);
  core.log().info("warm", {{"shapes", shapes.size()},
                           {"devices", core.devices().size()},
                           {"loaded", shapes.size() * core.devices().size() - missing.size()},
                           {"to_tune", missing.size()}});
  const auto tunings = std::make_shared<Tunings>();
  const auto wait_for = [&](int under_way) {
    auto counts = tunings->counts.lock();
    const auto enough = [&] { return counts->under_way <= under_way; };
    return counts.wait(tunings->changed, stop, enough) && !stop.stop_requested();
  };
  for (const Shape& shape : missing) {
    if (!wait_for(under_way_max - 1)) return false;
    tune(core, shape, tunings);
  }
  if (!wait_for(0)) return false;
  const auto counts = tunings->counts.lock();
  core.log().info("warmed", {{"tuned", counts->tuned}, {"failed", counts->failed}});
  return true;
}

}  // namespace normd
