// Store: winners, trials and binaries on disk, in one SQLite file that several processes may share.
// This is the only interface to it; <sqlite3.h> and all SQL stay in this folder.
//
// A Store may be used from several threads. Who writes waits for the other writers, of this process
// and others; who reads waits for nobody who writes. Rows that do not parse or no longer fit are
// misses, never errors. An unreadable file is set aside under a dated name and a new one begun; a
// newer schema is refused and left untouched; without a writable place the store goes on in memory
// and says so in status().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/key.h"
#include "kernels/limits.h"
#include "tuner/binary.h"
#include "tuner/trial.h"

namespace normd {

struct StoreStatus {
  std::string path;
  std::string engine;           // "SQLite 3.40.1"
  std::string engine_note;      // what an operator should know of this version; mostly nothing
  bool persistent = false;      // false: read-only place, full disk or network file system
  std::string degraded_reason;  // empty when all is well
  std::string set_aside;        // where a damaged file was moved at open, if one was
  int schema_version = 0;
  std::int64_t winners = 0;
  std::int64_t trials = 0;
  std::int64_t binaries = 0;
  std::int64_t file_bytes = 0;
  std::int64_t wal_bytes = 0;
  std::int64_t rows_waiting = 0;     // winners, trials and binaries in memory, not on disk yet
  std::int64_t rows_unreadable = 0;  // rows passed over as misses since the store was opened
  std::int64_t rows_evicted = 0;     // since the store was opened, to stay within its size
};

// A page of a listing. `after` is the key text of the last row of the page before, or empty.
struct WinnerQuery {
  std::string after;
  int limit = 100;
  std::string contains;  // only keys whose text contains this; empty: all
};

// The right to tune one key, held by one process at a time through a row with an expiry. Released
// when destroyed. It may outlive its Store; then it does nothing more.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();
  // For the ttl it was taken with, from now. not_found: it expired and another process took it.
  Result<void> renew();

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
  static Result<std::unique_ptr<Store>> open(const std::string& directory, Mode mode,
                                             std::int64_t bytes_max = limits::store_bytes_max);
  ~Store();

  // The template's digest is not compared here; that is the caller's. In mode read_write a read
  // that fails is a miss too, and status() says why.
  Result<std::optional<Winner>> find_winner(const Key& key);
  // The same for looking only: the winner does not count as used.
  Result<std::optional<Winner>> peek_winner(const Key& key);
  Result<std::vector<Winner>> list_winners(const WinnerQuery& query);
  Result<std::vector<Trial>> find_trials(const Key& key);
  // The trial of one candidate, if one was stored under this compiler or was measured under any.
  Result<std::optional<Trial>> find_trial(const Key& key, const Candidate& candidate,
                                          const std::string& compiler);
  Result<std::optional<Binary>> find_binary(const std::string& binary_digest);
  Result<std::optional<Binary>> find_binary_of_source(const std::string& source_digest,
                                                      const std::string& compiler);

  // Committed one by one as a tuning goes. A not_tried trial is not stored (and checked). Where the
  // disk cannot be written (full, busy, gone) they succeed all the same: the row waits in memory,
  // is found there, and is written later. invalid_argument: the row would not read back.
  Result<void> put_binary(const Binary& binary);
  Result<void> put_trial(const Key& key, const Trial& trial);
  // The winner and the race it won, in one transaction. Replaces an earlier winner unless pinned.
  Result<void> put_winner(const Winner& winner, const std::vector<Trial>& race);

  // Removes the winner and trials of a key; binaries nobody needs go too. The number of winners and
  // trials. This and set_pinned act on the disk or fail: an operator must know.
  Result<std::int64_t> forget(const Key& key);
  // Whether put_winner may replace this winner. not_found: there is none.
  Result<void> set_pinned(const Key& key, bool pinned);

  // Empty: another live process holds it. `ttl_ms` from now, renewed by the holder.
  Result<std::optional<Lease>> try_lease(const Key& key, std::int64_t ttl_ms);

  // Winners that served from memory: a stored winner in use is the last to go when the file is too
  // large. find_winner() notes its own.
  void note_used(const std::vector<std::string>& keys);

  // True once after another process changed the file, or another file took its place, since the
  // last call. While a thread of this process waits to write, it says so only later.
  bool changed_by_others();
  // For idle moments, every few seconds: notices a file that was deleted or replaced and begins a
  // new one with all that is known, writes rows that wait in memory, lets rows go while the file
  // holds more than bytes_max (eviction.h), and moves the log into the file. Does nothing while
  // another thread writes. An Error says what stands in the way; the store goes on, and the next
  // call tries again.
  Result<void> tidy();
  StoreStatus status();

 private:
  friend class Lease;
  struct Shared;
  explicit Store(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;  // leases look at it weakly
};

}  // namespace normd
