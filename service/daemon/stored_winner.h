// StoredWinner: from what the store has of a key to what can be loaded, or the reason why not.
// Every reason is a miss, never an error: a row that no longer fits must not stop anybody. Reads
// the store; for the lookup thread. It never touches a device.
#pragma once

#include <optional>
#include <string>

#include "service/daemon/served_kernel.h"
#include "tuner/store/store.h"

namespace normd {

struct StoredWinner {
  std::optional<Winner> winner;    // as stored, usable or not
  std::optional<LoadOrder> order;  // what to load; empty: a miss
  std::string why;                 // one sentence, hit or miss
};

// A winner is usable when its template is known, of grade exact and unchanged, its candidate still
// fits, and its binary is there with the digest that it was stored under.
StoredWinner read_stored_winner(Store& store, const Key& key, const DeviceSpec& spec);

}  // namespace normd
