// StoreState: the one writer of a store: to the file when it is its turn, to the database in memory
// when the file cannot take a row: the disk is full, another program holds it, or there is no place
// to write. Rows in memory are written as soon as that works. One thread at a time: the Store
// guards it by a lock that is held while it waits; who reads asks the StoreReader, which it keeps.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tuner/guarded.h"
#include "tuner/store/store.h"
#include "tuner/store/store_file.h"
#include "tuner/store/store_reader.h"

namespace normd {

class StoreState {
 public:
  static Result<StoreState> open(const std::string& directory, Store::Mode mode,
                                 std::int64_t bytes_max);
  // Writes what waits and closes the file under the turn, so that no log is left behind.
  void close();

  // Locked after the state's own lock, never before it.
  const std::shared_ptr<Guarded<StoreReader>>& reader() const { return reader_; }

  // Run inside a transaction, on the file or on the database in memory, perhaps on both in turn.
  // Takes no lock: it may run under the reader's.
  using Change = std::function<Result<void>(Database&)>;
  Result<void> write(const Change& change);          // to memory if the disk cannot take it
  Result<void> write_through(const Change& change);  // fails if the disk cannot take it

  bool changed_by_others();
  Result<void> tidy();

 private:
  StoreState(std::string directory, Store::Mode mode, std::int64_t bytes_max,
             std::shared_ptr<Guarded<StoreReader>> reader);
  Result<void> write_disk(const Change& change, std::chrono::milliseconds patience);
  Result<void> write_disk_or_reopen(const Change& change);
  Result<void> write_waiting(Conflict conflict);
  bool waiting() const { return reader_->lock()->waiting(); }
  void set_failed(std::string reason);
  bool must_reopen() const;
  void reopen();
  bool make_way();
  void take_file(StoreFile file);
  void cut_log();
  void stamp_used();
  void make_room();

  std::string directory_;
  Store::Mode mode_;
  std::int64_t bytes_max_;
  std::shared_ptr<Guarded<StoreReader>> reader_;
  std::optional<StoreFile> file_;
  bool changed_ = false;  // to be told by changed_by_others()
  std::int64_t data_version_ = 0;
  std::int64_t log_cut_at_bytes_ = 0;
  std::chrono::steady_clock::time_point retry_at_{};
};

}  // namespace normd
