#include "service/daemon/kernel_loader.h"

#include <utility>

#include "kernels/catalog.h"
#include "tuner/usable_winner.h"

namespace normd {
namespace {

// Of the trials of a key: where so many of the best fail, the device is at fault and not they.
constexpr int instead_max = 4;

}  // namespace

bool kernel_at_fault(const Error& error) {
  return error.code != ErrorCode::resource_exhausted && error.code != ErrorCode::unavailable;
}

Result<ServedKernelPointer> KernelLoader::load(const Key& key, Binary binary, const Launch& launch,
                                               const Candidate& candidate) {
  const std::string digest = binary.digest;
  if (is_quarantined(digest)) {
    return fail(ErrorCode::failed_precondition, "it failed on this device earlier");
  }
  auto loaded = parts_.serving
                    ->load({.binary = std::move(binary),
                            .launch = launch,
                            .candidate = to_text(candidate),
                            .key = to_text(key)})
                    .get();
  if (!loaded && kernel_at_fault(loaded.error())) quarantine(key, digest, loaded.error());
  return loaded;
}

KernelLoader::Loaded KernelLoader::load_winner(const Key& key) {
  const std::uint64_t drops = parts_.cache->drops();
  StoredWinner stored = find_usable_winner(*parts_.store, key, parts_.serving->spec());
  Loaded result{.unusable_winner = stored.winner.has_value(), .why = std::move(stored.why)};
  if (!stored.usable()) return result;
  auto loaded =
      load(key, std::move(*stored.binary), stored.winner->launch, stored.winner->candidate);
  if (!loaded) {
    result.why = "the stored winner did not load: " + loaded.error().message;
    // The winner is as good as ever where the device has no room just now: the fallback answers
    // until the store is asked again.
    result.failed_here = kernel_at_fault(loaded.error());
    result.unusable_winner = result.failed_here;
    if (!result.failed_here) return result;
    result.kernel = load_instead(key);
    return result;
  }
  parts_.cache->put_unless_dropped(key, *loaded, drops);
  result.kernel = std::move(*loaded);
  result.winner = std::move(stored.winner);
  return result;
}

ServedKernelPointer KernelLoader::load_instead(const Key& key) {
  const DeviceSpec& spec = parts_.serving->spec();
  int tried = 0;
  for (const Trial& trial : find_usable_trials(*parts_.store, key, spec)) {
    if (is_quarantined(trial.binary_digest)) continue;
    // Before the binary is read: it goes from the store with its key.
    const std::uint64_t drops = parts_.cache->drops();
    auto binary = find_usable_binary(*parts_.store, key, trial, spec);
    if (!binary) continue;
    if (++tried > instead_max) break;
    const Launch launch = launch_of(trial.candidate, problem_at(key, key.bucket.rows_min), spec);
    auto loaded = load(key, std::move(*binary), launch, trial.candidate);
    if (!loaded) continue;
    parts_.log->info("winner_replaced",
                     {{"key", to_text(key)}, {"candidate", to_text(trial.candidate)}});
    parts_.cache->put_unless_dropped(key, *loaded, drops);
    return std::move(*loaded);
  }
  return nullptr;
}

void KernelLoader::load_default(const Key& key, const Problem& problem,
                                const TuneProgress& progress) {
  const DeviceSpec& spec = parts_.serving->spec();
  const auto candidate = parse_candidate(progress.default_candidate);
  auto binary = parts_.store->find_binary(progress.default_binary_digest);
  // Without it the fallback goes on answering; a race that is over soon makes up for it.
  if (!candidate || !binary || !*binary) return;
  auto loaded = load(key, std::move(**binary), launch_of(*candidate, problem, spec), *candidate);
  if (!loaded) return;
  parts_.cache->put_default(key, std::move(*loaded));
  parts_.log->debug("default", {{"key", to_text(key)}, {"candidate", progress.default_candidate}});
}

void KernelLoader::quarantine(const Key& key, const std::string& binary_digest,
                              const Error& error) {
  quarantined_.lock()->insert(binary_digest);
  parts_.cache->drop(key);
  ++parts_.counters->winners_quarantined;
  parts_.log->error("winner_quarantined",
                    {{"key", to_text(key)}, {"binary", binary_digest}, {"reason", error}});
}

}  // namespace normd
