#include "tuner/store/tables.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "kernels/check.h"
#include "kernels/digest.h"
#include "tuner/store/row_text.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

// Takes the columns of a row one by one, in the order of sql.h. After the first that does not
// parse, `sound` is false and what is read counts for nothing.
struct Columns {
  Use& row;
  int column = 0;
  bool sound = true;

  std::string text() { return row.text(column++); }
  std::int64_t integer() { return row.integer(column++); }
  double number() { return row.number(column++); }
  void skip() { ++column; }

  int small(std::int64_t low, std::int64_t high) {
    const std::int64_t value = integer();
    sound = sound && value >= low && value <= high;
    return sound ? static_cast<int>(value) : 0;
  }
  template <typename Parsed>
  auto parsed(const Parsed& value) {
    sound = sound && value.has_value();
    return value.has_value() ? *value : std::decay_t<decltype(*value)>{};
  }
};

constexpr int int_max = std::numeric_limits<int>::max();

std::optional<Winner> winner_of(Use& row) {
  Columns columns{.row = row};
  Winner winner;
  winner.key = columns.parsed(parse_key(columns.text()));
  columns.skip();  // the fingerprint, which the key holds
  winner.candidate = columns.parsed(parse_candidate(columns.text()));
  winner.launch = columns.parsed(parse_launch(columns.text()));
  winner.template_digest = columns.text();
  winner.binary_digest = columns.text();
  winner.measurements = columns.parsed(parse_measurements(columns.text()));
  columns.skip();                                        // median_ns
  const std::string default_candidate = columns.text();  // empty: there was none to compare with
  if (!default_candidate.empty()) {
    winner.default_candidate = columns.parsed(parse_candidate(default_candidate));
  }
  winner.default_measurements = columns.parsed(parse_measurements(columns.text()));
  columns.skip();  // default_median_ns
  winner.ties = columns.parsed(parse_candidates(columns.text()));
  winner.device_name = columns.text();
  winner.device_uuid = columns.text();
  winner.driver = columns.text();
  winner.compiler = columns.text();
  winner.tuned_by = columns.text();
  winner.tuned_at_unix_s = columns.integer();
  winner.tuning_ms = columns.integer();
  winner.pinned = columns.integer() != 0;
  columns.skip();  // used_at_unix_s
  winner.catalog_digest = columns.text();
  if (!columns.sound) return std::nullopt;
  return winner;
}

std::optional<Trial> trial_of(Use& row) {
  Columns columns{.row = row};
  Trial trial;
  columns.skip();  // the key, which was asked for
  columns.skip();  // the fingerprint
  trial.candidate = columns.parsed(parse_candidate(columns.text()));
  trial.compiler = columns.text();
  trial.verdict.kind = static_cast<VerdictKind>(columns.small(1, 2));
  trial.verdict.reason = static_cast<Reason>(columns.small(0, 255));
  columns.sound = columns.sound && !reason_name(trial.verdict.reason).empty();
  trial.verdict.detail = columns.text();
  trial.verdict.measurements = columns.parsed(parse_measurements(columns.text()));
  columns.skip();  // median_ns
  trial.verdict.error_over_bound = columns.number();
  trial.binary_digest = columns.text();
  trial.registers = columns.small(-1, int_max);
  trial.spill_bytes = columns.small(-1, int_max);
  trial.shared_bytes = columns.small(0, int_max);
  trial.blocks_per_sm = columns.small(0, int_max);
  trial.sightings = columns.small(1, int_max);
  if (!columns.sound) return std::nullopt;
  return trial;
}

std::optional<Binary> binary_of(Use& row) {
  Columns columns{.row = row};
  Binary binary;
  binary.digest = columns.text();
  binary.source_digest = columns.text();
  binary.compiler = columns.text();
  binary.format = static_cast<BinaryFormat>(columns.small(1, 3));
  binary.entry = columns.text();
  binary.target = columns.text();
  binary.registers = columns.small(-1, int_max);
  binary.spill_bytes = columns.small(-1, int_max);
  binary.log = columns.text();
  binary.bytes = columns.text();
  // SQLite does not notice a changed byte inside a blob; this does.
  if (!columns.sound || sha256_hex(binary.bytes) != binary.digest) return std::nullopt;
  return binary;
}

template <typename Row>
Result<std::vector<Row>> read_all(Use& rows, std::optional<Row> (*parse)(Use&),
                                  std::int64_t& unreadable, std::size_t rows_max) {
  std::vector<Row> read;
  while (read.size() < rows_max) {
    const Result<bool> more = rows.next();
    if (!more) return fail(more.error());
    if (!*more) return read;
    if (auto row = parse(rows)) {
      read.push_back(std::move(*row));
    } else {
      ++unreadable;
    }
  }
  return read;
}

template <typename Row>
Result<std::optional<Row>> read_first(Use& rows, std::optional<Row> (*parse)(Use&),
                                      std::int64_t& unreadable) {
  auto read = read_all(rows, parse, unreadable, 1);
  if (!read) return fail(read.error());
  if (read->empty()) return std::nullopt;
  return std::optional<Row>(std::move(read->front()));
}

std::int64_t now_unix_s() {
  return static_cast<std::int64_t>(std::time(nullptr));
}

Result<void> write_device(Database& database, const Fingerprint& fingerprint,
                          const Winner* winner) {
  static const std::string none;
  return database
      .use(sql::put_device)(to_text(fingerprint))(winner ? winner->device_name : none)(
          winner ? winner->device_uuid : none)(winner ? winner->driver : none)(now_unix_s())
      .run();
}

// A row that was written must be one that reads back, or it would be missed for ever after.
template <typename Row>
Result<void> confirm(const Result<std::optional<Row>>& read_back, const std::string& what) {
  if (!read_back) return fail(read_back.error());
  if (*read_back) return {};
  return fail(ErrorCode::invalid_argument, "not storing what would not read back: " + what);
}

// Where rows are salvaged from a file that may be damaged, one that breaks a constraint is let go.
Result<void> copy_table(Database& from, const char* all, Database& to, const char* put,
                        Conflict conflict) {
  Use rows = from.use(all);
  while (true) {
    const Result<bool> more = rows.next();
    if (!more) return fail(more.error());
    if (!*more) return {};
    auto done = to.use(put).row_of(rows).run();
    const bool let_go =
        conflict == Conflict::keep && !done && done.error().code == ErrorCode::invalid_argument;
    if (!done && !let_go) return done;
  }
}

}  // namespace

Result<std::optional<Winner>> read_winner(TableReading reading, const std::string& key) {
  Use rows = reading.database.use(sql::find_winner);
  return read_first(rows(key), winner_of, reading.unreadable);
}

Result<std::vector<Winner>> read_winners(TableReading reading, const WinnerQuery& query) {
  Use rows = reading.database.use(sql::list_winners);
  // Counted here and not by SQL, so that a short page always is the last one.
  return read_all(rows(query.after)(query.contains), winner_of, reading.unreadable,
                  static_cast<std::size_t>(std::max(0, query.limit)));
}

Result<std::vector<Trial>> read_trials(TableReading reading, const std::string& key) {
  Use rows = reading.database.use(sql::find_trials);
  return read_all(rows(key), trial_of, reading.unreadable, std::string::npos);
}

Result<std::optional<Trial>> read_trial(TableReading reading, const std::string& key,
                                        const std::string& candidate, const std::string& compiler) {
  Use rows = reading.database.use(sql::find_trial);
  return read_first(rows(key)(candidate)(compiler), trial_of, reading.unreadable);
}

Result<std::optional<Binary>> read_binary(TableReading reading, const std::string& digest) {
  Use rows = reading.database.use(sql::find_binary);
  return read_first(rows(digest), binary_of, reading.unreadable);
}

Result<std::optional<Binary>> read_binary_of_source(TableReading reading,
                                                    const std::string& source_digest,
                                                    const std::string& compiler) {
  Use rows = reading.database.use(sql::find_binary_of_source);
  return read_first(rows(source_digest)(compiler), binary_of, reading.unreadable);
}

Result<void> write_winner(Database& database, const Winner& winner) {
  if (auto done = write_device(database, winner.key.fingerprint, &winner); !done) return done;
  Use row = database.use(sql::put_winner);
  row(to_text(winner.key))(to_text(winner.key.fingerprint))(to_text(winner.candidate));
  row(to_text(winner.launch))(winner.template_digest)(winner.binary_digest);
  row(measurements_text(winner.measurements))(sorting_median_ns(winner.measurements));
  row(to_text(winner.default_candidate))(measurements_text(winner.default_measurements));
  row(sorting_median_ns(winner.default_measurements))(candidates_text(winner.ties));
  row(winner.device_name)(winner.device_uuid)(winner.driver)(winner.compiler)(winner.tuned_by);
  row(winner.tuned_at_unix_s)(winner.tuning_ms)(winner.pinned ? 1 : 0)(now_unix_s());
  row(winner.catalog_digest);
  if (auto done = row.run(); !done) return done;
  std::int64_t unreadable = 0;
  const std::string key = to_text(winner.key);
  return confirm(read_winner({database, unreadable}, key), "the winner of " + key);
}

Result<void> write_trial(Database& database, const Key& key, const Trial& trial) {
  NORMD_CHECK(trial.verdict.kind != VerdictKind::not_tried);
  if (auto done = write_device(database, key.fingerprint, nullptr); !done) return done;
  const double error = trial.verdict.error_over_bound;
  Use row = database.use(sql::put_trial);
  row(to_text(key))(to_text(key.fingerprint))(to_text(trial.candidate))(trial.compiler);
  row(static_cast<int>(trial.verdict.kind))(static_cast<int>(trial.verdict.reason));
  row(trial.verdict.detail)(measurements_text(trial.verdict.measurements));
  row(sorting_median_ns(trial.verdict.measurements));
  row(std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  row(trial.binary_digest)(trial.registers)(trial.spill_bytes)(trial.shared_bytes);
  row(trial.blocks_per_sm)(trial.sightings)(now_unix_s());
  if (auto done = row.run(); !done) return done;
  std::int64_t unreadable = 0;
  const std::string candidate = to_text(trial.candidate);
  return confirm(read_trial({database, unreadable}, to_text(key), candidate, trial.compiler),
                 "a trial of " + candidate);
}

Result<void> write_binary(Database& database, const Binary& binary) {
  Use row = database.use(sql::put_binary);
  row(binary.digest)(binary.source_digest)(binary.compiler)(static_cast<int>(binary.format));
  row(binary.entry)(binary.target)(binary.registers)(binary.spill_bytes)(binary.log);
  return row.blob(binary.bytes)(now_unix_s()).run();
}

Result<std::int64_t> erase_key(Database& database, const std::string& key) {
  std::int64_t erased = 0;
  // Binaries first: which ones they are is read from the rows that go after.
  for (const char* sql : {sql::forget_binaries, sql::forget_winner, sql::forget_trials}) {
    if (auto done = database.use(sql)(key).run(); !done) return fail(done.error());
    erased += sql == sql::forget_binaries ? 0 : database.changes();
  }
  return erased;
}

Result<void> copy_rows(Database& from, Database& to, Conflict conflict) {
  const bool keep = conflict == Conflict::keep;
  struct Table {
    const char* all;
    const char* put;
  };
  const Table tables[] = {{sql::all_devices, sql::put_device},
                          {sql::all_binaries, keep ? sql::keep_binary : sql::put_binary},
                          {sql::all_trials, keep ? sql::keep_trial : sql::put_trial},
                          {sql::all_winners, keep ? sql::keep_winner : sql::put_winner}};
  Result<void> all = {};
  for (const Table& table : tables) {
    auto done = copy_table(from, table.all, to, table.put, conflict);
    if (!done && !keep) return done;
    if (!done && all) all = done;  // a damaged table does not keep the next one back
  }
  return all;
}

}  // namespace normd
