// Store: winners, trials and binaries on disk, in one SQLite file that several processes may share.
// This is the only interface to it; <sqlite3.h> and all SQL stay in this folder.
//
// A Store may be used from several threads: calls are serialised inside. No call holds a lock of the
// caller's. Rows that do not parse or no longer fit are misses, never errors. An unreadable file is
// set aside under a dated name and a new one begun; a newer schema is refused and left untouched;
// without a writable place the store goes on in memory and says so in status().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/key.h"
#include "tuner/binary.h"
#include "tuner/trial.h"

namespace normd {

struct StoreStatus {
  std::string path;
  bool persistent = false;       // false: read-only place, full disk or network file system
  std::string degraded_reason;   // empty when all is well
  std::string set_aside;         // where a damaged file was moved at open, if one was
  int schema_version = 0;
  std::int64_t winners = 0;
  std::int64_t trials = 0;
  std::int64_t binaries = 0;
  std::int64_t file_bytes = 0;
  std::int64_t wal_bytes = 0;
};

// A page of a listing. `after` is the key text of the last row of the page before, or empty.
struct WinnerQuery {
  std::string after;
  int limit = 100;
  std::string contains;  // only keys whose text contains this; empty: all
};

// The right to tune one key, held by one process at a time through a row with an expiry. Released
// when destroyed.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();
  Result<void> renew();  // not_found: it expired and another process took it

 private:
  friend class Store;
  struct Row;
  explicit Lease(std::unique_ptr<Row> row);
  std::unique_ptr<Row> row_;
};

class Store {
 public:
  enum class Mode { read_write, read_only };

  // `directory` holds normd.db and its lock files; it is created (0700) in mode read_write.
  // Mode read_only opens what is there, changes nothing, and works in a place that cannot be
  // written. Errors: not_found (read_only and no file), failed_precondition (newer schema, foreign
  // file), data_loss (read_only and damaged).
  static Result<std::unique_ptr<Store>> open(const std::string& directory, Mode mode);
  ~Store();

  Result<std::optional<Winner>> find_winner(const Key& key);
  Result<std::vector<Winner>> list_winners(const WinnerQuery& query);
  Result<std::vector<Trial>> find_trials(const Key& key);
  // The trial of one candidate, if one was stored under this compiler or was measured.
  Result<std::optional<Trial>> find_trial(const Key& key, const Candidate& candidate);
  Result<std::optional<Binary>> find_binary(const std::string& binary_digest);
  Result<std::optional<Binary>> find_binary_of_source(const std::string& source_digest,
                                                              const std::string& compiler);

  // Committed one by one as a tuning goes. A not_tried trial is not stored (and checked).
  Result<void> put_binary(const Binary& binary);
  Result<void> put_trial(const Key& key, const Trial& trial);
  // The winner and the race it won, in one transaction. Replaces an earlier winner unless pinned.
  Result<void> put_winner(const Winner& winner, const std::vector<Trial>& race);

  // Removes the winner and trials of a key; binaries nobody needs go too. The number of rows.
  Result<std::int64_t> forget(const Key& key);

  // Empty: another live process holds it. `ttl_ms` from now, renewed by the holder.
  Result<std::optional<Lease>> try_lease(const Key& key, std::int64_t ttl_ms);

  // True once after another process changed the file since the last call.
  bool changed_by_others();
  // Truncating checkpoint under the turn lock: when idle and at exit. Also notices a file that was
  // deleted or replaced, and opens a new one.
  Result<void> tidy();
  StoreStatus status();

 private:
  class File;
  explicit Store(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace normd
