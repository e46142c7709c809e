#include "tuner/store/store_reader.h"

#include "tuner/store/engine.h"
#include "tuner/store/schema.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

constexpr std::size_t used_max = 8192;  // winners whose use is remembered between two tidyings

}  // namespace

StoreReader::StoreReader(std::string directory, Store::Mode mode, Database memory)
    : directory_(std::move(directory)), mode_(mode), memory_(std::move(memory)) {}

Result<void> StoreReader::note_failure(const Error& error) {
  if (mode_ == Store::Mode::read_only) return fail(error);
  condition.suspect = condition.suspect || error.code == ErrorCode::data_loss;
  condition.failed_reason = error.message;
  return {};
}

void StoreReader::note_used(const std::string& key) {
  if (mode_ == Store::Mode::read_write && used_.size() < used_max) used_.insert(key);
}

StoreStatus StoreReader::status() {
  const StorePlace place = store_place(directory_);
  StoreStatus status{.path = place.database, .engine = engine_name(), .engine_note = engine_note()};
  status.persistent = condition.writable && !waiting_ && !condition.moved;
  status.degraded_reason =
      condition.place_reason.empty() ? condition.failed_reason : condition.place_reason;
  status.set_aside = condition.set_aside;
  status.schema_version = store_schema_version;
  status.rows_unreadable = unreadable_;
  status.rows_evicted = condition.rows_evicted;
  const auto count = [](Database& database, const char* sql) {
    return database.integer(sql).value_or(0);
  };
  status.winners = count(memory_, sql::count_winners);
  status.trials = count(memory_, sql::count_trials);
  status.binaries = count(memory_, sql::count_binaries);
  status.rows_waiting = status.winners + status.trials + status.binaries;
  if (!disk_) return status;
  status.winners += count(*disk_, sql::count_winners);
  status.trials += count(*disk_, sql::count_trials);
  status.binaries += count(*disk_, sql::count_binaries);
  status.file_bytes = file_bytes(place.database);
  status.wal_bytes = file_bytes(place.log);
  return status;
}

}  // namespace normd
