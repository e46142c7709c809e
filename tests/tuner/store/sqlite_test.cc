#include "tuner/store/sqlite.h"

#include <gtest/gtest.h>

#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

constexpr char insert_row[] = "INSERT INTO a VALUES (?1, ?2, ?3, ?4)";
constexpr char select_rows[] = "SELECT text, number, real, bytes FROM a ORDER BY number";
constexpr char count_rows[] = "SELECT count(*) FROM a";

Database database_with_table() {
  auto database = Database::open_in_memory();
  EXPECT_TRUE(database->execute(
      "CREATE TABLE a (text TEXT NOT NULL, number INTEGER NOT NULL UNIQUE, real REAL NOT NULL, "
      "bytes BLOB NOT NULL) STRICT"));
  return std::move(*database);
}

Result<void> insert(Database& database, std::int64_t number) {
  using namespace std::string_view_literals;
  return database.use(insert_row)("a\0b"sv)(number)(0.1).blob("\0\xff"sv).run();
}

TEST(SqliteTest, values_of_every_kind_come_back_as_they_went) {
  auto database = database_with_table();
  ASSERT_TRUE(insert(database, -5));
  Use rows = database.use(select_rows);
  ASSERT_TRUE(*rows.next());
  EXPECT_EQ(rows.text(0), std::string("a\0b", 3));
  EXPECT_EQ(rows.integer(1), -5);
  EXPECT_EQ(rows.number(2), 0.1);
  EXPECT_EQ(rows.text(3), std::string("\0\xff", 2));
  EXPECT_FALSE(*rows.next());
}

TEST(SqliteTest, an_empty_text_or_blob_is_not_null) {
  auto database = database_with_table();
  EXPECT_TRUE(database.use(insert_row)(std::string_view())(1)(0.0).blob({}).run());
}

TEST(SqliteTest, a_statement_is_reset_and_emptied_after_each_use) {
  auto database = database_with_table();
  ASSERT_TRUE(insert(database, 1));
  {
    Use rows = database.use(select_rows);
    ASSERT_TRUE(*rows.next());  // and given up in the middle
  }
  EXPECT_TRUE(database.execute("DROP TABLE a")) << "a statement left open would lock the table";
  auto other = database_with_table();
  ASSERT_TRUE(insert(other, 1));
  EXPECT_FALSE(other.use(insert_row)("only one value").run());
}

TEST(SqliteTest, an_error_names_what_was_done_and_where_and_its_kind) {
  auto database = database_with_table();
  ASSERT_TRUE(insert(database, 1));
  const auto twice = insert(database, 1);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(twice.error().message.find("UNIQUE constraint failed: a.number"), std::string::npos);
  EXPECT_NE(twice.error().message.find("INSERT INTO a"), std::string::npos);
  const auto unknown = database.use("SELECT b FROM nowhere").next();
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no such table: nowhere"), std::string::npos);
}

TEST(SqliteTest, a_transaction_is_rolled_back_unless_committed) {
  auto database = database_with_table();
  {
    auto transaction = Transaction::begin(database);
    ASSERT_TRUE(insert(database, 1));
  }
  EXPECT_EQ(*database.integer(count_rows), 0);
  {
    auto transaction = Transaction::begin(database);
    ASSERT_TRUE(insert(database, 1));
    ASSERT_TRUE(transaction->commit());
  }
  EXPECT_EQ(*database.integer(count_rows), 1);
}

TEST(SqliteTest, a_reader_makes_no_file_and_a_writer_does) {
  const StoreDirectory directory;
  for (const auto as : {OpenAs::reader, OpenAs::immutable_reader}) {
    EXPECT_EQ(Database::open(directory.file("a.db"), as).error().code,
              ErrorCode::failed_precondition);
  }
  EXPECT_EQ(directory.names(""), std::vector<std::string>{});
  EXPECT_TRUE(Database::open(directory.file("a.db"), OpenAs::writer));
}

TEST(SqliteTest, a_path_is_a_path_whatever_is_in_it) {
  const StoreDirectory directory;
  for (const std::string name : {"a?mode=memory", "a#b", "a%20b", "a b&c=d", "\xc3\xa4"}) {
    auto database = Database::open(directory.file(name), OpenAs::writer);
    ASSERT_TRUE(database) << database.error().message;
    ASSERT_TRUE(database->execute("CREATE TABLE a (b)"));
    EXPECT_EQ(directory.names(name), std::vector<std::string>{name});
  }
}

TEST(SqliteTest, two_uses_of_one_statement_at_once_are_a_mistake_of_ours) {
  auto database = database_with_table();
  ASSERT_TRUE(insert(database, 1));
  Use rows = database.use(select_rows);
  ASSERT_TRUE(*rows.next());
  EXPECT_DEATH(database.use(select_rows), "stmt_busy");
}

TEST(SqliteTest, a_connection_is_hardened) {
  const StoreDirectory directory;
  auto database = *Database::open(directory.file("a.db"), OpenAs::writer);
  EXPECT_EQ(*database.integer("PRAGMA trusted_schema"), 0);
  EXPECT_EQ(*database.integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(*database.integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(*database.integer("PRAGMA wal_autocheckpoint"), 0);
  EXPECT_FALSE(database.execute("ATTACH ':memory:' AS other"));
  EXPECT_FALSE(database.use("SELECT load_extension('x')").next());
  ASSERT_TRUE(database.execute("PRAGMA writable_schema = ON; CREATE TABLE a (b)"));
  EXPECT_FALSE(database.execute("UPDATE sqlite_schema SET sql = ''"));
}

}  // namespace
}  // namespace normd
