#include "tuner/store/sqlite.h"

#include <sqlite3.h>

#include <map>

#include "kernels/check.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

ErrorCode code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return ErrorCode::resource_exhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_IOERR:
      return ErrorCode::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::data_loss;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::failed_precondition;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(sqlite3* connection, int code, std::string_view doing) {
  const char* file = sqlite3_db_filename(connection, "main");
  std::string message = file != nullptr && *file != '\0' ? file : "store in memory";
  message += std::string(": ") + sqlite3_errmsg(connection) + " (SQLite " +
             std::to_string(sqlite3_extended_errcode(connection)) + ") at: ";
  message += doing.substr(0, 60);
  return Error{code_of(code), message, {}};
}

// In a URI, whatever is no plain letter, digit or slash is escaped, so that a '?' in a directory's
// name does not become an option.
std::string uri_of(const std::string& path, OpenAs as) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string uri = "file:";
  for (const char byte : path) {
    const auto value = static_cast<unsigned char>(byte);
    const bool plain = (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') ||
                       (value >= '0' && value <= '9') || value == '/' || value == '.' ||
                       value == '-' || value == '_';
    if (plain) {
      uri += byte;
    } else {
      uri.append({'%', digits[value >> 4], digits[value & 15]});
    }
  }
  if (as == OpenAs::immutable_reader) uri += "?immutable=1";
  return uri;
}

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// Settings that cost nothing and shut doors that a crafted file could use.
void harden(sqlite3* connection) {
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, 256 << 20);  // a binary far beyond any real one
  sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
}

}  // namespace

struct Database::Handle {
  sqlite3* connection = nullptr;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalizer>> statements;

  ~Handle() {
    statements.clear();
    sqlite3_close(connection);
  }
};

Use::Use(sqlite3* connection, sqlite3_stmt* statement, std::optional<Error> error)
    : connection_(connection), statement_(statement), error_(std::move(error)) {}

Use::Use(Use&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      error_(std::move(other.error_)) {}

Use::~Use() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Use::check(int code) {
  if (code == SQLITE_OK || error_) return;
  error_ = error_of(connection_, code, sqlite3_sql(statement_));
}

Use& Use::operator()(std::string_view text) {
  if (statement_ == nullptr) return *this;
  const char* begin = text.data() == nullptr ? "" : text.data();
  check(
      sqlite3_bind_text64(statement_, ++bound_, begin, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Use& Use::operator()(std::int64_t value) {
  if (statement_ != nullptr) check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Use& Use::operator()(double value) {
  if (statement_ != nullptr) check(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Use& Use::blob(std::string_view bytes) {
  if (statement_ == nullptr) return *this;
  const char* begin = bytes.data() == nullptr ? "" : bytes.data();
  check(sqlite3_bind_blob64(statement_, ++bound_, begin, bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Use& Use::row_of(Use& other) {
  if (statement_ == nullptr || other.statement_ == nullptr) return *this;
  for (int column = 0; column < sqlite3_column_count(other.statement_); ++column) {
    check(sqlite3_bind_value(statement_, ++bound_, sqlite3_column_value(other.statement_, column)));
  }
  return *this;
}

Result<bool> Use::next() {
  if (error_) return fail(*error_);
  NORMD_CHECK(statement_ != nullptr);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  check(code);
  return fail(*error_);
}

Result<void> Use::run() {
  while (true) {
    const Result<bool> row = next();
    if (!row) return fail(row.error());
    if (!*row) return {};
  }
}

std::int64_t Use::integer(int column) {
  return sqlite3_column_int64(statement_, column);
}

double Use::number(int column) {
  return sqlite3_column_double(statement_, column);
}

std::string Use::text(int column) {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (bytes == nullptr) return {};
  return std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Database::Database(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path, OpenAs as) {
  const int access =
      as == OpenAs::writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  auto handle = std::make_unique<Handle>();
  const int code = sqlite3_open_v2(
      uri_of(path, as).c_str(), &handle->connection,
      access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) return fail(error_of(handle->connection, code, "opening " + path));
  harden(handle->connection);
  Database database(std::move(handle));
  database.set_busy_timeout_ms(5000);
  if (auto done = database.execute(sql::configure); !done) return fail(done.error());
  return database;
}

Result<Database> Database::open_in_memory() {
  auto database = open(":memory:", OpenAs::writer);
  if (!database) return database;
  if (auto done = database->execute(sql::memory_limit); !done) return fail(done.error());
  return database;
}

Use Database::use(const char* sql) {
  auto& statement = handle_->statements[sql];
  if (statement == nullptr) {
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v3(handle_->connection, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                        &prepared, nullptr);
    if (code != SQLITE_OK) {
      return Use(handle_->connection, nullptr, error_of(handle_->connection, code, sql));
    }
    statement.reset(prepared);
  }
  NORMD_CHECK(sqlite3_stmt_busy(statement.get()) == 0);
  return Use(handle_->connection, statement.get(), std::nullopt);
}

Result<void> Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_->connection, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error_of(handle_->connection, code, sql));
  return {};
}

Result<std::int64_t> Database::integer(const char* sql) {
  Use asked = use(sql);
  const Result<bool> row = asked.next();
  if (!row) return fail(row.error());
  return *row ? asked.integer(0) : 0;
}

Result<std::string> Database::text(const char* sql) {
  Use asked = use(sql);
  const Result<bool> row = asked.next();
  if (!row) return fail(row.error());
  return *row ? asked.text(0) : std::string();
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_->connection);
}

bool Database::read_only() const {
  return sqlite3_db_readonly(handle_->connection, "main") == 1;
}

void Database::set_busy_timeout_ms(int limit_ms) {
  sqlite3_busy_timeout(handle_->connection, limit_ms);
}

Result<void> Database::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(handle_->connection, "main",
                                             SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error_of(handle_->connection, code, "a checkpoint"));
  return {};
}

void Database::allow_checkpoint_on_close() {
  sqlite3_db_config(handle_->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

Result<Transaction> Transaction::begin(Database& database) {
  if (auto done = database.use(sql::begin).run(); !done) return fail(done.error());
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

// A failed statement may have rolled the transaction back already; then this has nothing to do.
Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->use(sql::rollback).run());
}

Result<void> Transaction::commit() {
  if (auto done = database_->use(sql::commit).run(); !done) return done;
  database_ = nullptr;
  return {};
}

}  // namespace normd
