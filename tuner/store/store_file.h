// StoreFile: an open, sound database file of the store, and the ways to open one. What is damaged
// is set aside here, what is newer or foreign is refused here, and both are decided before anything
// is written. Belongs to one thread at a time.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tuner/store/place.h"
#include "tuner/store/sqlite.h"
#include "tuner/store/turn.h"

namespace normd {

// How long a writer waits for others, and how long one that has waited in vain tries again.
inline constexpr std::chrono::milliseconds store_patience{5000};
inline constexpr std::chrono::milliseconds store_patience_again{100};

struct StoreFile {
  StorePlace place;
  PlaceIdentity identity;                // as it was opened
  std::optional<StoreTurn> turn;         // none: only for reading
  std::optional<PrivateDirectory> copy;  // what is read is a copy in here
  Database database;                     // closed before the above
  std::optional<Database> reading;       // another connection to what database is open on

  bool writable() const { return turn.has_value(); }
  bool moved() const { return writable() && place_identity(place) != identity; }
};

struct OpenedStoreFile {
  std::optional<StoreFile> file;  // none: there is nothing that can be read
  std::string degraded_reason;    // why the file cannot be written; empty if it can
  std::string set_aside;          // where a damaged file went
};

// Creates what is missing. A place that cannot be written is no error: it gives a file for reading
// only, or none, and the reason. Errors: failed_precondition (newer or foreign, left untouched).
Result<OpenedStoreFile> open_for_writing(const std::string& directory);

// Changes nothing there. Errors: not_found, failed_precondition (newer or foreign), data_loss.
Result<StoreFile> open_for_reading(const std::string& directory);

}  // namespace normd
