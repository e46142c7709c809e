#include "service/daemon/handlers/explain.h"

#include "service/daemon/core.h"
#include "service/daemon/nearest_key.h"
#include "service/daemon/wire.h"
#include "tuner/usable_winner.h"

namespace normd {
namespace {

// What Run would answer from, and why, with the stored winner if there is one.
void write_origin_and_why(ServedDevice& device, const Key& key, const StoredWinner& stored,
                          v1::ExplainResponse& response) {
  Origin origin = stored.usable() ? Origin::store : Origin::fallback;
  response.set_why(stored.why);
  if (device.resolver().in_memory(key)) {
    origin = Origin::memory;
    response.set_why("the stored winner is loaded in this daemon");
  }
  response.set_origin(write_origin(origin));
  if (stored.winner) *response.mutable_winner() = write_winner(*stored.winner);
}

}  // namespace

Result<v1::ExplainResponse> explain(Core& core, const v1::ExplainRequest& request) {
  const auto wire = read_problem(request.problem());
  if (!wire) return fail(wire.error());
  const auto mode = read_bucket_mode(request.bucket_mode());
  if (!mode) return fail(mode.error());
  const auto device = core.find_device(request.device());
  if (!device) return fail(device.error());
  const auto problem = with_alignment(*wire, request.align_bytes(), (*device)->spec());
  if (!problem) return fail(problem.error());

  const Key key = (*device)->resolver().key_of(*problem, *mode);
  const StoredWinner stored = find_usable_winner(core.store(), key, (*device)->spec());
  v1::ExplainResponse response;
  response.set_key(to_text(key));
  write_origin_and_why(**device, key, stored, response);
  const auto trials = core.store().find_trials(key);
  if (!trials) return fail(trials.error());
  for (const Trial& trial : *trials) *response.add_trials() = write_trial(trial);
  if (!stored.winner) {
    const auto nearest = find_nearest_key(core.store(), key);
    if (!nearest) return fail(nearest.error());
    response.set_nearest_key(nearest->key);
    for (const std::string& field : nearest->differing_fields) {
      response.add_differing_fields(field);
    }
  }
  return response;
}

}  // namespace normd
