#include "tuner/store/store.h"

#include <algorithm>
#include <utility>

#include "kernels/check.h"
#include "tuner/store/lease.h"
#include "tuner/store/row_text.h"
#include "tuner/store/sql.h"
#include "tuner/store/store_state.h"

namespace normd {
namespace {

// Rows of memory and disk as one list: sorted, and of rows that are the same thing only the first,
// which came from memory and is the newer one.
template <typename Row, typename Before>
void merge(std::vector<Row>& rows, Before before) {
  std::stable_sort(rows.begin(), rows.end(), before);
  const auto same = [&](const Row& a, const Row& b) { return !before(a, b) && !before(b, a); };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

}  // namespace

Store::Store(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

Store::~Store() {
  shared_->writer.lock()->close();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& directory, Mode mode,
                                           std::int64_t bytes_max) {
  auto state = StoreState::open(directory, mode, bytes_max);
  if (!state) return fail(std::move(state.error()));
  return std::unique_ptr<Store>(new Store(std::make_shared<Shared>(std::move(*state))));
}

Result<std::optional<Winner>> Store::find_winner(const Key& key) {
  auto found = peek_winner(key);
  if (found && *found) note_used({to_text(key)});
  return found;
}

Result<std::optional<Winner>> Store::peek_winner(const Key& key) {
  const std::string text = to_text(key);
  const auto reader = shared_->reader->lock();
  return reader->find([&](TableReading reading) { return read_winner(reading, text); });
}

Result<std::vector<Winner>> Store::list_winners(const WinnerQuery& query) {
  const auto reader = shared_->reader->lock();
  auto rows = reader->gather([&](TableReading reading) { return read_winners(reading, query); });
  if (!rows || !reader->waiting()) return rows;
  merge(*rows, [](const Winner& a, const Winner& b) { return to_text(a.key) < to_text(b.key); });
  if (std::cmp_greater(rows->size(), std::max(0, query.limit))) {
    rows->erase(rows->begin() + std::max(0, query.limit), rows->end());
  }
  return rows;
}

Result<std::vector<Trial>> Store::find_trials(const Key& key) {
  const std::string text = to_text(key);
  const auto reader = shared_->reader->lock();
  auto rows = reader->gather([&](TableReading reading) { return read_trials(reading, text); });
  if (!rows || !reader->waiting()) return rows;
  merge(*rows, [](const Trial& a, const Trial& b) {
    return std::pair(to_text(a.candidate), a.compiler) <
           std::pair(to_text(b.candidate), b.compiler);
  });
  std::stable_sort(rows->begin(), rows->end(), [](const Trial& a, const Trial& b) {
    const auto rank = [](const Trial& trial) {
      return std::pair(trial.verdict.kind, sorting_median_ns(trial.verdict.measurements));
    };
    return rank(a) < rank(b);
  });
  return rows;
}

Result<std::optional<Trial>> Store::find_trial(const Key& key, const Candidate& candidate,
                                               const std::string& compiler) {
  return shared_->reader->lock()->find([&](TableReading reading) {
    return read_trial(reading, to_text(key), to_text(candidate), compiler);
  });
}

Result<std::optional<Binary>> Store::find_binary(const std::string& binary_digest) {
  return shared_->reader->lock()->find(
      [&](TableReading reading) { return read_binary(reading, binary_digest); });
}

Result<std::optional<Binary>> Store::find_binary_of_source(const std::string& source_digest,
                                                           const std::string& compiler) {
  return shared_->reader->lock()->find([&](TableReading reading) {
    return read_binary_of_source(reading, source_digest, compiler);
  });
}

Result<void> Store::put_binary(const Binary& binary) {
  return shared_->writer.lock()->write(
      [&](Database& database) { return write_binary(database, binary); });
}

Result<void> Store::put_trial(const Key& key, const Trial& trial) {
  NORMD_CHECK(trial.verdict.kind != VerdictKind::not_tried);
  return shared_->writer.lock()->write(
      [&](Database& database) { return write_trial(database, key, trial); });
}

Result<void> Store::put_winner(const Winner& winner, const std::vector<Trial>& race) {
  const std::string key = to_text(winner.key);
  const auto writer = shared_->writer.lock();
  // The statement itself keeps a pinned row of the database it writes to; a row that has to wait in
  // memory must not hide a pinned one on disk either.
  const auto stored = shared_->reader->lock()->find(
      [&](TableReading reading) { return read_winner(reading, key); });
  const bool pinned = stored && *stored && (*stored)->pinned;
  return writer->write([&](Database& database) -> Result<void> {
    for (const Trial& trial : race) {
      if (trial.verdict.kind == VerdictKind::not_tried) continue;
      if (auto done = write_trial(database, winner.key, trial); !done) return done;
    }
    return pinned ? Result<void>{} : write_winner(database, winner);
  });
}

Result<std::int64_t> Store::forget(const Key& key) {
  std::int64_t erased = 0;
  auto done = shared_->writer.lock()->write_through([&](Database& database) -> Result<void> {
    const Result<std::int64_t> rows = erase_key(database, to_text(key));
    if (!rows) return fail(rows.error());
    erased = *rows;
    return {};
  });
  if (!done) return fail(std::move(done.error()));
  return erased;
}

Result<void> Store::set_pinned(const Key& key, bool pinned) {
  const std::string text = to_text(key);
  return shared_->writer.lock()->write_through([&](Database& database) -> Result<void> {
    if (auto done = database.use(sql::set_pinned)(text)(pinned ? 1 : 0).run(); !done) return done;
    if (database.changes() > 0) return {};
    return fail(ErrorCode::not_found, "no winner for " + text);
  });
}

Result<std::optional<Lease>> Store::try_lease(const Key& key, std::int64_t ttl_ms) {
  auto row = std::make_unique<Lease::Row>(
      Lease::Row{.shared = shared_, .key = to_text(key), .owner = lease_owner(), .ttl_ms = ttl_ms});
  const Result<bool> taken = row->take();
  if (!taken) return fail(taken.error());
  if (!*taken) return std::nullopt;
  return std::optional<Lease>(Lease(std::move(row)));
}

void Store::note_used(const std::vector<std::string>& keys) {
  const auto reader = shared_->reader->lock();
  for (const std::string& key : keys) reader->note_used(key);
}

bool Store::changed_by_others() {
  const auto writer = shared_->writer.try_lock();
  return writer && (*writer)->changed_by_others();
}

Result<void> Store::tidy() {
  const auto writer = shared_->writer.try_lock();
  return writer ? (*writer)->tidy() : Result<void>{};
}

StoreStatus Store::status() {
  return shared_->reader->lock()->status();
}

}  // namespace normd
