#include "tuner/store/schema.h"
#include "tuner/store/sql.h"
#include "tuner/store/store_file.h"

namespace normd {
namespace {

constexpr std::string_view remedy = "; name another directory with --store or NORMD_STORE";

// The directory cannot be written. What lies there already is still served.
OpenedStoreFile without_writing(const std::string& directory, const std::string& reason) {
  OpenedStoreFile opened;
  opened.degraded_reason = "new results are kept in memory only: " + reason;
  opened.degraded_reason += remedy;
  if (auto file = open_for_reading(directory)) opened.file = std::move(*file);
  return opened;
}

// The first look, which takes no lock and writes nothing, not even a log: a newer or foreign file
// must stay as it is. The log is not seen here, so what is damaged with a log beside it may be
// sound.
Result<FileJudgement> look_at(const std::string& path, bool thorough) {
  if (file_bytes(path) == 0) return FileJudgement{FileKind::empty, {}};
  auto database = Database::open(path, OpenAs::immutable_reader);
  if (!database && database.error().code == ErrorCode::data_loss) {
    return FileJudgement{FileKind::damaged, database.error().message};
  }
  if (!database) return fail(database.error());
  return judge(*database, thorough);
}

Error refusal(const std::string& path, const FileJudgement& judgement) {
  return Error{ErrorCode::failed_precondition,
               path + " is left untouched: " + judgement.words +
                   (judgement.kind == FileKind::newer ? "; use a newer normd" : "") +
                   std::string(remedy),
               {}};
}

// Switches the log on and brings the schema up to date. The file is sound.
Result<void> prepare(Database& database) {
  if (database.read_only()) {
    return fail(ErrorCode::failed_precondition, "the file cannot be written");
  }
  const Result<std::string> mode = database.text(sql::write_ahead_log);
  if (!mode) return fail(mode.error());
  if (*mode != "wal") {
    return fail(ErrorCode::failed_precondition,
                "SQLite's write-ahead log does not work there (mode '" + *mode + "')");
  }
  const Result<bool> changed = migrate(database, migrations());
  if (!changed) return fail(changed.error());
  // So that the file alone says whose it is, even if this process is killed.
  return *changed ? database.checkpoint() : Result<void>{};
}

struct Attempt {
  std::optional<Database> database;
  std::optional<Database> reading;
  std::optional<FileJudgement> judgement;  // newer, foreign, damaged: the file was not opened
};

Result<Attempt> attempt_to_open(const StorePlace& place) {
  const Result<FileJudgement> first = look_at(place.database, false);
  if (!first) return fail(first.error());
  const bool log = file_bytes(place.log) > 0;
  if (first->kind == FileKind::newer || first->kind == FileKind::foreign ||
      (first->kind == FileKind::damaged && !log)) {
    return Attempt{.judgement = *first};
  }
  auto database = Database::open(place.database, OpenAs::writer);
  if (!database && database.error().code == ErrorCode::data_loss) {
    return Attempt{.judgement = FileJudgement{FileKind::damaged, database.error().message}};
  }
  if (!database) return fail(database.error());
  Result<FileJudgement> whole = judge(*database, true);
  if (!whole) return fail(whole.error());
  if (whole->kind == FileKind::foreign && first->kind == FileKind::store) {
    // The file is ours, the pages in the log are not.
    whole->kind = FileKind::damaged;
    whole->words = "its log is another database's: " + whole->words;
  }
  if (whole->kind != FileKind::store && whole->kind != FileKind::empty) {
    return Attempt{.judgement = *whole};
  }
  if (auto done = prepare(*database); !done) return fail(done.error());
  auto reading = Database::open(place.database, OpenAs::reader);
  if (!reading) return fail(reading.error());
  reading->set_busy_timeout_ms(static_cast<int>(store_patience_again.count()));
  return Attempt{.database = std::move(*database), .reading = std::move(*reading)};
}

// A log that does not belong to the file spoils a file that is sound by itself.
Result<std::string> set_damaged_aside(const StorePlace& place) {
  const Result<FileJudgement> alone = look_at(place.database, true);
  const bool log_at_fault = file_bytes(place.log) > 0 && alone && alone->kind == FileKind::store;
  return set_aside(place, log_at_fault ? SetAside::log_only : SetAside::everything);
}

Result<OpenedStoreFile> open_under_turn(const StorePlace& place, StoreTurn& turn) {
  OpenedStoreFile opened;
  // Twice something may be set aside: the log, then what was under it.
  for (int tries = 0; tries < 3; ++tries) {
    auto attempt = attempt_to_open(place);
    if (!attempt) return without_writing(place.directory, attempt.error().message);
    if (attempt->database) {
      opened.file = StoreFile{.place = place,
                              .identity = place_identity(place),
                              .turn = std::move(turn),
                              .copy = std::nullopt,
                              .database = std::move(*attempt->database),
                              .reading = std::move(attempt->reading)};
      return opened;
    }
    if (attempt->judgement->kind != FileKind::damaged) {
      return fail(refusal(place.database, *attempt->judgement));
    }
    auto aside = set_damaged_aside(place);
    if (!aside) return without_writing(place.directory, aside.error().message);
    opened.set_aside = *aside;
  }
  return without_writing(place.directory, place.database + " is damaged again and again");
}

}  // namespace

Result<OpenedStoreFile> open_for_writing(const std::string& directory) {
  if (auto made = create_private_directory(directory); !made) {
    return without_writing(directory, made.error().message);
  }
  if (const auto name = network_file_system_of(directory)) {
    OpenedStoreFile opened;
    opened.degraded_reason = "results are kept in memory only: " + directory + " is on " + *name +
                             ", where SQLite's write-ahead log is not safe";
    opened.degraded_reason += remedy;
    return opened;
  }
  const StorePlace place = store_place(directory);
  auto turn = StoreTurn::open(place.turn);
  if (!turn) return without_writing(directory, turn.error().message);
  // The lock moves with the descriptor into the StoreFile and is let go here in any case.
  auto held = turn->take(store_patience);
  if (!held) return without_writing(directory, held.error().message);
  return open_under_turn(place, *turn);
}

}  // namespace normd
