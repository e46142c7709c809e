// A stored decision that may be served here and now: the winner of a key whose template still has
// the text it was tuned with, whose candidate is still one that the catalog would offer, and whose
// binary is in the store and sound. Anything less is a miss. Any thread.
#pragma once

#include <optional>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/key.h"
#include "tuner/binary.h"
#include "tuner/store/store.h"
#include "tuner/trial.h"

namespace normd {

struct UsableWinner {
  Winner winner;
  Binary binary;
};

Result<std::optional<UsableWinner>> find_usable_winner(Store& store, const Key& key,
                                                       const DeviceSpec& spec);

}  // namespace normd
