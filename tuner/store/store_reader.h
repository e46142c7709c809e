// StoreReader: what is asked of the store: rows in memory that the file cannot take now, before
// those of the file, which is read through a connection of its own, so that nobody who reads waits
// for a write. And what is known of the place, for the status. One thread at a time: guarded by a
// lock of its own that is held for a query, never while anybody waits for the disk or its turn.
#pragma once

#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tuner/store/store.h"
#include "tuner/store/store_file.h"
#include "tuner/store/tables.h"

namespace normd {

// What the writer and the readers know of the file.
struct StoreCondition {
  bool writable = false;
  bool moved = false;         // the file's name stands for another file now
  bool suspect = false;       // SQLite called the file damaged
  std::string place_reason;   // why there is no file that can be written
  std::string failed_reason;  // the last failure of the file there is; cleared by a success
  std::string set_aside;      // where a damaged file went
  std::int64_t rows_evicted = 0;
};

class StoreReader {
 public:
  StoreReader(std::string directory, Store::Mode mode, Database memory);

  // read(TableReading) gives Result<std::optional<Row>>; memory first, then the disk.
  template <typename Read>
  auto find(const Read& read) -> decltype(read(std::declval<TableReading>()));
  // read(TableReading) gives Result<std::vector<Row>>; what is in memory comes first.
  template <typename Read>
  auto gather(const Read& read) -> decltype(read(std::declval<TableReading>()));
  void note_used(const std::string& key);
  StoreStatus status();

  // For the writer.
  Database& memory() { return memory_; }
  bool waiting() const { return waiting_; }  // memory holds rows
  void set_waiting(bool waiting) { waiting_ = waiting; }
  void take_disk(std::optional<Database> disk) { disk_ = std::move(disk); }
  std::set<std::string> take_used() { return std::exchange(used_, {}); }
  StoreCondition condition;

 private:
  Result<void> note_failure(const Error& error);

  std::string directory_;
  Store::Mode mode_;
  Database memory_;
  std::optional<Database> disk_;
  bool waiting_ = false;
  std::int64_t unreadable_ = 0;
  std::set<std::string> used_;  // winners found since their last-used stamps were written
};

template <typename Read>
auto StoreReader::find(const Read& read) -> decltype(read(std::declval<TableReading>())) {
  if (waiting_) {
    auto found = read(TableReading{memory_, unreadable_});
    if (!found || *found) return found;
  }
  if (!disk_) return std::nullopt;
  auto found = read(TableReading{*disk_, unreadable_});
  if (found) return found;
  if (auto noted = note_failure(found.error()); !noted) return fail(noted.error());
  return std::nullopt;
}

template <typename Read>
auto StoreReader::gather(const Read& read) -> decltype(read(std::declval<TableReading>())) {
  decltype(read(std::declval<TableReading>())) rows;
  if (waiting_) rows = read(TableReading{memory_, unreadable_});
  if (!rows || !disk_) return rows;
  auto on_disk = read(TableReading{*disk_, unreadable_});
  if (!on_disk) {
    if (auto noted = note_failure(on_disk.error()); !noted) return fail(noted.error());
    return rows;
  }
  rows->insert(rows->end(), std::make_move_iterator(on_disk->begin()),
               std::make_move_iterator(on_disk->end()));
  return rows;
}

}  // namespace normd
