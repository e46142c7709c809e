#include "tuner/store/store_state.h"

#include <utility>

#include "tuner/store/schema.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

// The log is moved into the file beyond this size, and at idle moments. A reader starts by looking
// at the log's index, so a long one slows every process down.
constexpr std::int64_t log_bytes_max = std::int64_t{8} << 20;

// How often a disk that could not be written is tried again in the middle of work.
constexpr auto retry_after = std::chrono::seconds(1);

// Whether a row may wait in memory after this failure. Otherwise the row itself is at fault.
bool may_wait(const Error& error) {
  return error.code != ErrorCode::invalid_argument && error.code != ErrorCode::internal;
}

Result<void> transact(Database& database, const StoreState::Change& change) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return fail(transaction.error());
  const Result<std::int64_t> version = database.integer(sql::user_version);
  if (!version) return fail(version.error());
  if (*version != store_schema_version) {
    return fail(ErrorCode::failed_precondition,
                "another program took the store to schema version " + std::to_string(*version));
  }
  if (auto done = change(database); !done) return done;
  return transaction->commit();
}

}  // namespace

StoreState::StoreState(std::string directory, Store::Mode mode, std::int64_t bytes_max,
                       std::shared_ptr<Guarded<StoreReader>> reader)
    : directory_(std::move(directory)),
      mode_(mode),
      bytes_max_(bytes_max),
      reader_(std::move(reader)),
      log_cut_at_bytes_(log_bytes_max) {}

Result<StoreState> StoreState::open(const std::string& directory, Store::Mode mode,
                                    std::int64_t bytes_max) {
  auto memory = Database::open_in_memory();
  if (!memory) return fail(memory.error());
  if (auto made = migrate(*memory, migrations()); !made) return fail(made.error());
  StoreState state(
      directory, mode, bytes_max,
      std::make_shared<Guarded<StoreReader>>(StoreReader(directory, mode, std::move(*memory))));
  if (mode == Store::Mode::read_only) {
    auto file = open_for_reading(directory);
    if (!file) return fail(file.error());
    state.take_file(std::move(*file));
    return state;
  }
  auto opened = open_for_writing(directory);
  if (!opened) return fail(opened.error());
  {
    const auto reader = state.reader_->lock();
    reader->condition.place_reason = opened->degraded_reason;
    reader->condition.set_aside = opened->set_aside;
  }
  if (opened->file) state.take_file(std::move(*opened->file));
  return state;
}

void StoreState::take_file(StoreFile file) {
  file_ = std::move(file);
  data_version_ = file_->database.integer(sql::data_version).value_or(0);
  log_cut_at_bytes_ = log_bytes_max;
  const auto reader = reader_->lock();
  reader->take_disk(std::exchange(file_->reading, std::nullopt));
  reader->condition.writable = file_->writable();
}

void StoreState::set_failed(std::string reason) {
  reader_->lock()->condition.failed_reason = std::move(reason);
}

bool StoreState::must_reopen() const {
  const auto reader = reader_->lock();
  return reader->condition.moved || reader->condition.suspect;
}

void StoreState::close() {
  if (mode_ == Store::Mode::read_only || !file_ || !file_->writable()) return;
  stamp_used();
  if (waiting()) static_cast<void>(write_waiting(Conflict::replace));
  reader_->lock()->take_disk(std::nullopt);
  StoreTurn turn = std::move(*file_->turn);  // it must outlive the closing
  const auto held = turn.take(store_patience);
  if (held && place_identity(file_->place) == file_->identity) {
    file_->database.allow_checkpoint_on_close();
  }
  file_.reset();
}

Result<void> StoreState::write_disk(const Change& change, std::chrono::milliseconds patience) {
  if (!file_ || !file_->writable()) {
    return fail(ErrorCode::failed_precondition, reader_->lock()->condition.place_reason);
  }
  const auto gone = [&] {
    reader_->lock()->condition.moved = true;
    return fail(ErrorCode::unavailable,
                file_->place.database + " was deleted or replaced while it was open");
  };
  if (file_->moved()) return gone();  // the turn's own file may be gone with it
  auto held = file_->turn->take(patience);
  if (!held) return fail(held.error());
  if (file_->moved()) return gone();
  file_->database.set_busy_timeout_ms(static_cast<int>(patience.count()));
  if (auto done = transact(file_->database, change); !done) {
    if (done.error().code == ErrorCode::data_loss) reader_->lock()->condition.suspect = true;
    return done;
  }
  if (file_bytes(file_->place.log) > log_cut_at_bytes_) cut_log();
  return {};
}

// Under the turn. A reader in the way is no failure: the log is cut when it is gone.
void StoreState::cut_log() {
  file_->database.set_busy_timeout_ms(static_cast<int>(store_patience_again.count()));
  const bool cut = file_->database.checkpoint().has_value();
  log_cut_at_bytes_ = cut ? log_bytes_max : file_bytes(file_->place.log) + log_bytes_max;
}

Result<void> StoreState::write_disk_or_reopen(const Change& change) {
  auto done = write_disk(change, store_patience);
  if (done || !must_reopen()) return done;
  reopen();
  return write_disk(change, store_patience);
}

Result<void> StoreState::write(const Change& change) {
  if (mode_ == Store::Mode::read_only) {
    return fail(ErrorCode::failed_precondition, "the store was opened for reading only");
  }
  if (!waiting()) {
    auto done = write_disk_or_reopen(change);
    if (done) set_failed({});
    if (done || !may_wait(done.error())) return done;
    set_failed(done.error().message);
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
  }
  {
    const auto reader = reader_->lock();
    if (auto done = transact(reader->memory(), change); !done) return done;
    reader->set_waiting(true);
  }
  if (file_ && std::chrono::steady_clock::now() >= retry_at_) {
    static_cast<void>(write_waiting(Conflict::replace));
  }
  return {};
}

Result<void> StoreState::write_through(const Change& change) {
  if (mode_ == Store::Mode::read_only) {
    return fail(ErrorCode::failed_precondition, "the store was opened for reading only");
  }
  if (!file_) return transact(reader_->lock()->memory(), change);
  if (waiting()) {
    if (auto done = write_waiting(Conflict::replace); !done) return done;
  }
  return write_disk_or_reopen(change);
}

Result<void> StoreState::write_waiting(Conflict conflict) {
  // Nobody but this thread adds rows to memory, so what was copied is all that is cleared.
  const auto copy = [&](Database& database) {
    const auto reader = reader_->lock();
    return copy_rows(reader->memory(), database, conflict);
  };
  auto done = write_disk(copy, store_patience_again);
  retry_at_ = std::chrono::steady_clock::now() + retry_after;
  if (!done) {
    set_failed(done.error().message);
    return done;
  }
  set_failed({});
  const auto reader = reader_->lock();
  reader->set_waiting(false);
  return reader->memory().execute(sql::clear);
}

}  // namespace normd
