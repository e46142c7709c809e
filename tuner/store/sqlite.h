// Database, Use and Transaction: all that the store needs of SQLite, and the only way to it.
// A Database and everything made from it belong to one thread at a time. Nothing here knows the
// schema, and nothing checkpoints on its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace normd {

// writer creates the file if it is missing. immutable_reader takes no locks and ignores the log:
// for a file that nobody changes, or for a look at its first page.
enum class OpenAs : std::uint8_t { writer = 1, reader = 2, immutable_reader = 3 };

// One use of a prepared statement: binds in order, then steps; resets the statement when it goes.
// The first thing that fails is kept and returned by next() or run().
class Use {
 public:
  Use(Use&& other) noexcept;
  Use& operator=(Use&&) = delete;
  ~Use();

  Use& operator()(std::string_view text);
  Use& operator()(const std::string& text) { return (*this)(std::string_view(text)); }
  Use& operator()(const char* text) { return (*this)(std::string_view(text)); }
  Use& operator()(std::int64_t value);
  Use& operator()(int value) { return (*this)(static_cast<std::int64_t>(value)); }
  Use& operator()(double value);
  Use& blob(std::string_view bytes);
  Use& row_of(Use& other);  // all columns of the other's current row

  Result<bool> next();  // true: there is a row, readable until the next call
  Result<void> run();   // to the end

  std::int64_t integer(int column);
  double number(int column);
  std::string text(int column);  // or the bytes of a blob

 private:
  friend class Database;
  Use(sqlite3* connection, sqlite3_stmt* statement, std::optional<Error> error);
  void check(int code);

  sqlite3* connection_;
  sqlite3_stmt* statement_;  // null after a move or when preparing failed
  int bound_ = 0;
  std::optional<Error> error_;
};

// A failure's code says what may be done about it: resource_exhausted (disk full), unavailable
// (busy, input or output failed), failed_precondition (cannot be opened or written), data_loss
// (damaged), invalid_argument (a constraint), internal.
class Database {
 public:
  static Result<Database> open(const std::string& path, OpenAs as);
  static Result<Database> open_in_memory();  // bounded by sql::memory_limit
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();  // without a checkpoint; the log stays

  // Uses of one text must not overlap. The text must outlive the Database: it is from sql.h.
  Use use(const char* sql);
  Result<void> execute(const char* sql);  // one or more statements, no values
  Result<std::int64_t> integer(const char* sql);
  Result<std::string> text(const char* sql);

  std::int64_t changes() const;  // rows that the last statement changed
  bool read_only() const;
  void set_busy_timeout_ms(int limit_ms);
  // Moves the whole log into the file and cuts it to nothing. unavailable: a reader was in the way.
  Result<void> checkpoint();
  // Lets the last connection to the file checkpoint and remove the log when it closes. Only under
  // the store's turn.
  void allow_checkpoint_on_close();

 private:
  struct Handle;
  explicit Database(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

// BEGIN IMMEDIATE now; rolled back when destroyed unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null once committed or moved from
};

}  // namespace normd
