#include "tuner/store/store_state.h"

#include <unistd.h>

#include <ctime>
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

constexpr std::size_t used_max = 4096;  // winners whose use is remembered between two tidyings

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

StoreState::StoreState(std::string directory, Store::Mode mode, Database memory)
    : directory_(std::move(directory)),
      mode_(mode),
      memory_(std::move(memory)),
      log_cut_at_bytes_(log_bytes_max) {}

Result<StoreState> StoreState::open(const std::string& directory, Store::Mode mode) {
  auto memory = Database::open_in_memory();
  if (!memory) return fail(memory.error());
  if (auto made = migrate(*memory, migrations()); !made) return fail(made.error());
  StoreState state(directory, mode, std::move(*memory));
  if (mode == Store::Mode::read_only) {
    auto file = open_for_reading(directory);
    if (!file) return fail(file.error());
    state.take_file(std::move(*file));
    return state;
  }
  auto opened = open_for_writing(directory);
  if (!opened) return fail(opened.error());
  state.place_reason_ = opened->degraded_reason;
  state.set_aside_ = opened->set_aside;
  if (opened->file) state.take_file(std::move(*opened->file));
  return state;
}

void StoreState::take_file(StoreFile file) {
  file_ = std::move(file);
  data_version_ = file_->database.integer(sql::data_version).value_or(0);
  log_cut_at_bytes_ = log_bytes_max;
}

void StoreState::close() {
  if (mode_ == Store::Mode::read_only || !file_ || !file_->writable()) return;
  stamp_used();
  if (waiting_) static_cast<void>(write_waiting(Conflict::replace));
  StoreTurn turn = std::move(*file_->turn);  // it must outlive the closing
  const auto held = turn.take(store_patience);
  if (held && place_identity(file_->place) == file_->identity) {
    file_->database.allow_checkpoint_on_close();
  }
  file_.reset();
}

Result<void> StoreState::note_failure(const Error& error) {
  if (mode_ == Store::Mode::read_only) return fail(error);
  suspect_ = suspect_ || error.code == ErrorCode::data_loss;
  failed_reason_ = error.message;
  return {};
}

void StoreState::note_used(const std::string& key) {
  if (mode_ == Store::Mode::read_write && used_.size() < used_max) used_.insert(key);
}

Result<void> StoreState::write_disk(const Change& change, std::chrono::milliseconds patience) {
  if (!file_ || !file_->writable()) return fail(ErrorCode::failed_precondition, place_reason_);
  const auto gone = [&] {
    moved_ = true;
    return fail(ErrorCode::unavailable,
                file_->place.database + " was deleted or replaced while it was open");
  };
  if (file_->moved()) return gone();  // the turn's own file may be gone with it
  auto held = file_->turn->take(patience);
  if (!held) return fail(held.error());
  if (file_->moved()) return gone();
  file_->database.set_busy_timeout_ms(static_cast<int>(patience.count()));
  if (auto done = transact(file_->database, change); !done) {
    suspect_ = suspect_ || done.error().code == ErrorCode::data_loss;
    return done;
  }
  if (file_bytes(file_->place.log) > log_cut_at_bytes_) cut_log(log_bytes_max);
  return {};
}

// Under the turn. A reader in the way is no failure: the log is cut when it is gone.
void StoreState::cut_log(std::int64_t bytes_max) {
  file_->database.set_busy_timeout_ms(static_cast<int>(store_patience_again.count()));
  const bool cut = file_->database.checkpoint().has_value();
  log_cut_at_bytes_ = cut ? bytes_max : file_bytes(file_->place.log) + bytes_max;
}

Result<void> StoreState::write_disk_or_reopen(const Change& change) {
  auto done = write_disk(change, store_patience);
  if (done || !(moved_ || suspect_)) return done;
  reopen();
  return write_disk(change, store_patience);
}

Result<void> StoreState::write(const Change& change) {
  if (mode_ == Store::Mode::read_only) {
    return fail(ErrorCode::failed_precondition, "the store was opened for reading only");
  }
  if (!waiting_) {
    auto done = write_disk_or_reopen(change);
    if (done) failed_reason_.clear();
    if (done || !may_wait(done.error())) return done;
    failed_reason_ = done.error().message;
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
  }
  if (auto done = transact(memory_, change); !done) return done;
  waiting_ = true;
  if (file_ && std::chrono::steady_clock::now() >= retry_at_) {
    static_cast<void>(write_waiting(Conflict::replace));
  }
  return {};
}

Result<void> StoreState::write_through(const Change& change) {
  if (mode_ == Store::Mode::read_only) {
    return fail(ErrorCode::failed_precondition, "the store was opened for reading only");
  }
  if (!file_) return transact(memory_, change);
  if (waiting_) {
    if (auto done = write_waiting(Conflict::replace); !done) return done;
  }
  return write_disk_or_reopen(change);
}

Result<void> StoreState::write_waiting(Conflict conflict) {
  auto done = write_disk([&](Database& database) { return copy_rows(memory_, database, conflict); },
                         store_patience_again);
  retry_at_ = std::chrono::steady_clock::now() + retry_after;
  if (!done) {
    failed_reason_ = done.error().message;
    return done;
  }
  failed_reason_.clear();
  waiting_ = false;
  return memory_.execute(sql::clear);
}

// Readies the directory for opening anew while the old connection may still be needed for its rows.
// False: someone has the turn; later, then.
bool StoreState::make_way() {
  const StorePlace& place = file_->place;
  const PlaceIdentity& ours = file_->identity;
  auto held = file_->turn->take(store_patience_again);
  if (!held && held.error().code == ErrorCode::unavailable) return false;
  const PlaceIdentity now = place_identity(place);
  if (now.database == ours.database) {
    // If only the log or its index lost its name, we have both open still, and everything in them
    // can be moved into the file. Then nothing is missing from it.
    if (now != ours) static_cast<void>(file_->database.checkpoint());
    return true;
  }
  // The names of our log and index would be taken for the next file's.
  if (ours.log && now.log == ours.log) ::unlink(place.log.c_str());
  if (ours.index && now.index == ours.index) ::unlink(place.index.c_str());
  return true;
}

void StoreState::reopen() {
  if (file_ && file_->writable() && !make_way()) return;
  // SQLite shares one index among a process's connections to one file, and ours may have no name.
  const bool same_file = file_ && file_->writable() && file_->moved() &&
                         file_identity(file_->place.database) == file_->identity.database;
  if (same_file) file_.reset();
  auto opened = open_for_writing(directory_);
  place_reason_ = opened ? opened->degraded_reason : opened.error().message;
  if (!opened) return;
  if (!opened->set_aside.empty()) set_aside_ = opened->set_aside;
  if (!opened->file) return;  // what is open can still be read
  moved_ = suspect_ = false;
  changed_ = true;
  std::optional<StoreFile> before = std::move(file_);
  take_file(std::move(*opened->file));
  if (before && file_->writable() && before->identity.database != file_->identity.database) {
    // Whatever the lost file held is known and still good. Rows of a file that was put in its place
    // on purpose come first.
    auto saved = write_disk(
        [&](Database& database) {
          static_cast<void>(copy_rows(before->database, database, Conflict::keep));
          return Result<void>{};
        },
        store_patience);
    if (!saved) failed_reason_ = saved.error().message;
  }
  if (waiting_) static_cast<void>(write_waiting(Conflict::keep));
}

bool StoreState::changed_by_others() {
  if (file_ && file_->moved()) {
    moved_ = true;
    reopen();
  }
  if (file_) {
    const std::int64_t before = data_version_;
    data_version_ = file_->database.integer(sql::data_version).value_or(before);
    changed_ = changed_ || data_version_ != before;
  }
  return std::exchange(changed_, false);
}

void StoreState::stamp_used() {
  if (used_.empty()) return;
  const auto now_unix_s = static_cast<std::int64_t>(std::time(nullptr));
  auto done = write_disk(
      [&](Database& database) -> Result<void> {
        for (const std::string& key : used_) {
          auto stamped = database.use(sql::stamp_used)(key)(now_unix_s).run();
          if (!stamped) return stamped;
        }
        return {};
      },
      store_patience_again);
  if (done) used_.clear();
}

Result<void> StoreState::tidy() {
  if (mode_ == Store::Mode::read_only) return {};
  moved_ = moved_ || (file_ && file_->moved());
  // What can only be read is opened anew when its directory can be written, not every time.
  const bool only_read = file_ && !file_->writable();
  const bool hopeless = only_read && !StoreTurn::open(file_->place.turn);
  if (moved_ || suspect_ || !file_ || (only_read && !hopeless)) reopen();
  if (waiting_) {
    if (auto done = write_waiting(Conflict::replace); !done) return done;
  }
  if (!file_ || !file_->writable()) return {};
  stamp_used();
  if (file_bytes(file_->place.log) == 0) return {};
  auto held = file_->turn->take(store_patience_again);
  if (!held) return {};  // whoever has it is busy writing: this is no idle moment
  cut_log(log_bytes_max);
  return {};
}

StoreStatus StoreState::status() {
  StoreStatus status{.path = store_place(directory_).database, .engine = Database::engine()};
  status.persistent =
      mode_ == Store::Mode::read_write && file_ && file_->writable() && !waiting_ && !moved_;
  status.degraded_reason = place_reason_.empty() ? failed_reason_ : place_reason_;
  status.set_aside = set_aside_;
  status.schema_version = store_schema_version;
  status.rows_unreadable = unreadable_;
  const auto count = [](Database& database, const char* sql) {
    return database.integer(sql).value_or(0);
  };
  status.winners = count(memory_, sql::count_winners);
  status.trials = count(memory_, sql::count_trials);
  status.binaries = count(memory_, sql::count_binaries);
  status.rows_waiting = status.winners + status.trials + status.binaries;
  if (!file_) return status;
  status.winners += count(file_->database, sql::count_winners);
  status.trials += count(file_->database, sql::count_trials);
  status.binaries += count(file_->database, sql::count_binaries);
  status.file_bytes = file_bytes(file_->place.database);
  status.wal_bytes = file_bytes(file_->place.log);
  return status;
}

}  // namespace normd
