#include "tuner/usable_winner.h"

#include "kernels/catalog.h"
#include "kernels/source.h"

namespace normd {

Result<std::optional<UsableWinner>> find_usable_winner(Store& store, const Key& key,
                                                       const DeviceSpec& spec) {
  auto winner = store.find_winner(key);
  if (!winner) return fail(std::move(winner.error()));
  if (!*winner) return std::nullopt;
  const Winner& found = **winner;
  const Problem problem = problem_at(key, key.bucket.rows_min);
  if (!validate(found.candidate, problem, spec) ||
      found.launch != launch_of(found.candidate, problem, spec) ||
      found.template_digest != template_digest(found.candidate.template_name)) {
    return std::nullopt;
  }
  auto binary = store.find_binary(found.binary_digest);
  if (!binary) return fail(std::move(binary.error()));
  if (!*binary) return std::nullopt;
  return UsableWinner{std::move(**winner), std::move(**binary)};
}

}  // namespace normd
