// Eviction: how a store that holds more than it may is made smaller. Binaries that serve no winner
// go first, oldest first: they only spare a tuning its compiler. Then whole keys go, by their last
// use. Pinned winners stay, those used within the last hour too, and what a tuning may be at work
// with. On the Database's thread, in a transaction of the caller's.
#pragma once

#include <cstdint>

#include "tuner/store/sqlite.h"

namespace normd {

// What the rows take. The file itself does not shrink: new rows take the room that is left in it.
Result<std::int64_t> used_bytes(Database& database);

// Lets a batch go. The number of rows; 0: nothing more may go.
Result<std::int64_t> evict_batch(Database& database, std::int64_t now_unix_s);

}  // namespace normd
