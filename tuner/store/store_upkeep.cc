// What a StoreState does at idle moments and when its file was moved or is damaged.
#include <unistd.h>

#include <ctime>
#include <utility>

#include "tuner/store/eviction.h"
#include "tuner/store/sql.h"
#include "tuner/store/store_state.h"

namespace normd {
namespace {

// Batches that one tidying lets go of; the next one goes on.
constexpr int evictions_max = 16;

}  // namespace

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
  if (same_file) {
    reader_->lock()->take_disk(std::nullopt);
    file_.reset();
  }
  auto opened = open_for_writing(directory_);
  {
    StoreCondition& condition = reader_->lock()->condition;
    condition.place_reason = opened ? opened->degraded_reason : opened.error().message;
    if (opened && !opened->set_aside.empty()) condition.set_aside = opened->set_aside;
    if (!opened || !opened->file) return;  // what is open can still be read
    condition.moved = condition.suspect = false;
  }
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
    if (!saved) set_failed(saved.error().message);
  }
  if (waiting()) static_cast<void>(write_waiting(Conflict::keep));
}

bool StoreState::changed_by_others() {
  if (file_ && file_->moved()) {
    reader_->lock()->condition.moved = true;
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
  const std::set<std::string> used = reader_->lock()->take_used();
  if (used.empty()) return;
  const auto now_unix_s = static_cast<std::int64_t>(std::time(nullptr));
  auto done = write_disk(
      [&](Database& database) -> Result<void> {
        for (const std::string& key : used) {
          auto stamped = database.use(sql::stamp_used)(key)(now_unix_s).run();
          if (!stamped) return stamped;
        }
        return {};
      },
      store_patience_again);
  if (done) return;
  const auto reader = reader_->lock();
  for (const std::string& key : used) reader->note_used(key);
}

void StoreState::make_room() {
  const auto now_unix_s = static_cast<std::int64_t>(std::time(nullptr));
  for (int batch = 0; batch < evictions_max; ++batch) {
    const auto used = used_bytes(file_->database);
    if (!used || *used <= bytes_max_) return;
    std::int64_t rows = 0;
    auto done = write_disk(
        [&](Database& database) -> Result<void> {
          const auto evicted = evict_batch(database, now_unix_s);
          if (!evicted) return fail(evicted.error());
          rows = *evicted;
          return {};
        },
        store_patience_again);
    if (!done || rows == 0) return;
    reader_->lock()->condition.rows_evicted += rows;
  }
}

Result<void> StoreState::tidy() {
  if (mode_ == Store::Mode::read_only) return {};
  if (file_ && file_->moved()) reader_->lock()->condition.moved = true;
  // What can only be read is opened anew when its directory can be written, not every time.
  const bool only_read = file_ && !file_->writable();
  const bool hopeless = only_read && !StoreTurn::open(file_->place.turn);
  if (must_reopen() || !file_ || (only_read && !hopeless)) reopen();
  if (waiting()) {
    if (auto done = write_waiting(Conflict::replace); !done) return done;
  }
  if (!file_ || !file_->writable()) return {};
  stamp_used();
  make_room();
  if (file_bytes(file_->place.log) == 0) return {};
  auto held = file_->turn->take(store_patience_again);
  if (!held) return {};  // whoever has it is busy writing: this is no idle moment
  cut_log();
  return {};
}

}  // namespace normd
