#include "service/cli/offline_tuning.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "service/cli/stored.h"
#include "service/client/places.h"
#include "tuner/store/store.h"

namespace normd {
namespace {

Result<DeviceListing> host_device(const std::string& name) {
  const Result<std::unique_ptr<Device>> device = open_device(name);
  if (!device) return fail(device.error());
  return DeviceListing{.identity = (*device)->identity(), .spec = (*device)->spec()};
}

v1::TuneResponse response_of(const Tuning& tuning) {
  v1::TuneResponse response;
  response.set_done(true);
  response.set_origin(tuning.from_store ? v1::ORIGIN_STORE : v1::ORIGIN_TUNED);
  response.set_compiles(tuning.compiles);
  response.set_rounds_kept(tuning.rounds_kept);
  response.set_rounds_discarded(tuning.rounds_discarded);
  if (tuning.winner) *response.mutable_winner() = to_message(*tuning.winner);
  for (const Trial& trial : tuning.trials) *response.add_trials() = to_message(trial);
  return response;
}

}  // namespace

Result<DeviceListing> find_device(const std::string& name) {
  if (name.starts_with("host")) return host_device(name);
  const Result<std::vector<DeviceListing>> gpus = list_gpus();
  if (!gpus) {
    return fail(ErrorCode::not_found,
                "no GPU: " + gpus.error().message + "; --device host tunes on the CPU", "--device");
  }
  const auto found = std::find_if(gpus->begin(), gpus->end(), [&](const DeviceListing& gpu) {
    return name.empty() || gpu.identity.uuid == name ||
           std::to_string(gpu.identity.ordinal) == name;
  });
  if (found == gpus->end()) {
    return fail(ErrorCode::not_found,
                "no GPU has the UUID or index \"" + name + "\"; normctl devices lists them",
                "--device");
  }
  return *found;
}

Result<v1::TuneResponse> tune_offline(
    Session& session, const TuneRequest& request, const std::string& device,
    const std::function<void(const v1::TuneProgress&)>& progress) {
  const Result<DeviceListing> listing = find_device(device);
  if (!listing) return fail(listing.error());
  const Place place = store_place(session.store, session.surroundings.variables);
  note(session, "store " + place.path + " (" + place.from + ")");
  Result<std::unique_ptr<Store>> store = Store::open(place.path, Store::Mode::read_write);
  if (!store) return fail(store.error());
  const StoreStatus status = (*store)->status();
  if (!status.persistent) {
    session.err << "normctl: nothing will be kept: " << status.degraded_reason << "\n";
  }
  Tuner tuner({.store = store->get(),
               .worker = {session.surroundings.program_directory + "/normd", "worker"},
               .device = device.empty() ? listing->identity.uuid : device,
               .spec = listing->spec,
               .identity = listing->identity,
               .turn_directory = turn_directory(geteuid()),
               .tuned_by = "normctl " NORMD_VERSION});
  const Result<Tuning> tuning = tuner.tune(
      request, [&](const TuneProgress& step) { progress(to_message(step)); }, std::stop_token{});
  if (!tuning) return fail(tuning.error());
  if (Result<void> tidied = (*store)->tidy(); !tidied) note(session, tidied.error().message);
  return response_of(*tuning);
}

}  // namespace normd
