// StoreState: the store's file, and a second database in memory for rows that the file cannot take
// now: the disk is full, another program holds it, or there is no place to write. Rows in memory
// are found before those on disk and are written as soon as that works. One thread at a time: the
// Store guards it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "tuner/store/store.h"
#include "tuner/store/store_file.h"
#include "tuner/store/tables.h"

namespace normd {

class StoreState {
 public:
  static Result<StoreState> open(const std::string& directory, Store::Mode mode);
  // Writes what waits and closes the file under the turn, so that no log is left behind.
  void close();

  // Run inside a transaction, on the file or on the database in memory, perhaps on both in turn.
  using Change = std::function<Result<void>(Database&)>;
  Result<void> write(const Change& change);          // to memory if the disk cannot take it
  Result<void> write_through(const Change& change);  // fails if the disk cannot take it

  // read(TableReading) gives Result<std::optional<Row>>; memory first, then the disk.
  template <typename Read>
  auto find(const Read& read) -> decltype(read(std::declval<TableReading>()));
  // read(TableReading) gives Result<std::vector<Row>>; what is in memory comes first.
  template <typename Read>
  auto gather(const Read& read) -> decltype(read(std::declval<TableReading>()));
  bool waiting() const { return waiting_; }
  void note_used(const std::string& key);

  bool changed_by_others();
  Result<void> tidy();
  StoreStatus status();

 private:
  StoreState(std::string directory, Store::Mode mode, Database memory);
  Result<void> write_disk(const Change& change, std::chrono::milliseconds patience);
  Result<void> write_disk_or_reopen(const Change& change);
  Result<void> write_waiting(Conflict conflict);
  void reopen();
  bool make_way();
  void take_file(StoreFile file);
  void cut_log(std::int64_t bytes_max);
  void stamp_used();
  Result<void> note_failure(const Error& error);

  std::string directory_;
  Store::Mode mode_;
  Database memory_;
  std::optional<StoreFile> file_;
  bool waiting_ = false;  // memory_ holds rows
  bool moved_ = false;    // the file's name stands for another file now
  bool suspect_ = false;  // SQLite called the file damaged
  bool changed_ = false;  // to be told by changed_by_others()
  std::int64_t data_version_ = 0;
  std::int64_t unreadable_ = 0;
  std::int64_t log_cut_at_bytes_ = 0;
  std::chrono::steady_clock::time_point retry_at_{};
  std::string place_reason_;   // why there is no file that can be written
  std::string failed_reason_;  // the last failure of the file there is; cleared by a success
  std::string set_aside_;
  std::set<std::string> used_;  // winners found since their last-used stamps were written
};

template <typename Read>
auto StoreState::find(const Read& read) -> decltype(read(std::declval<TableReading>())) {
  if (waiting_) {
    auto found = read(TableReading{memory_, unreadable_});
    if (!found || *found) return found;
  }
  if (!file_) return std::nullopt;
  auto found = read(TableReading{file_->database, unreadable_});
  if (found) return found;
  if (auto noted = note_failure(found.error()); !noted) return fail(noted.error());
  return std::nullopt;
}

template <typename Read>
auto StoreState::gather(const Read& read) -> decltype(read(std::declval<TableReading>())) {
  decltype(read(std::declval<TableReading>())) rows;
  if (waiting_) rows = read(TableReading{memory_, unreadable_});
  if (!rows || !file_) return rows;
  auto on_disk = read(TableReading{file_->database, unreadable_});
  if (!on_disk) {
    if (auto noted = note_failure(on_disk.error()); !noted) return fail(noted.error());
    return rows;
  }
  rows->insert(rows->end(), std::make_move_iterator(on_disk->begin()),
               std::make_move_iterator(on_disk->end()));
  return rows;
}

}  // namespace normd
