// A stored decision that may be served here and now: the winner of a key whose template still has
// the text it was tuned with, whose candidate is still one that the catalog would offer, and whose
// binary is in the store and sound. Anything less is a miss with a reason, never an error. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/device_spec.h"
#include "kernels/key.h"
#include "tuner/binary.h"
#include "tuner/store/store.h"
#include "tuner/trial.h"

namespace normd {

struct StoredWinner {
  std::optional<Winner> winner;  // as stored, usable or not
  std::optional<Binary> binary;  // only if the winner is usable
  std::string why;               // one sentence, hit or miss

  bool usable() const { return binary.has_value(); }
};

StoredWinner find_usable_winner(Store& store, const Key& key, const DeviceSpec& spec);

// Whether the catalog has a candidate that was stored, and it may win.
bool is_offered(const Candidate& candidate, const Key& key, const DeviceSpec& spec);

// What may stand in for a winner that fails here: trials of the key that were measured and that the
// catalog would offer now, best first; and the binary of one, if it is in the store, sound, and
// made of the text that its template has now.
std::vector<Trial> find_usable_trials(Store& store, const Key& key, const DeviceSpec& spec);
std::optional<Binary> find_usable_binary(Store& store, const Key& key, const Trial& trial,
                                         const DeviceSpec& spec);

}  // namespace normd
