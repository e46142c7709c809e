#include "tuner/store/schema.h"

#include <gtest/gtest.h>

#include "tests/tuner/store/store_samples.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

constexpr Migration made_up[] = {
    {.to_version = 1, .sql = "CREATE TABLE a (b TEXT) STRICT; PRAGMA user_version = 1;"},
    {.to_version = 2, .sql = "ALTER TABLE a ADD COLUMN c TEXT; PRAGMA user_version = 2;"},
    {.to_version = 3, .sql = "UPDATE a SET c = b; PRAGMA user_version = 3;"},
};

Database open_database(const StoreDirectory& directory) {
  auto database = Database::open(directory.file("made_up.db"), OpenAs::writer);
  EXPECT_TRUE(database.has_value());
  return std::move(*database);
}

TEST(SchemaTest, an_empty_file_takes_every_step) {
  const StoreDirectory directory;
  auto database = open_database(directory);
  EXPECT_TRUE(*migrate(database, made_up));
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 3);
  EXPECT_FALSE(*migrate(database, made_up)) << "there is nothing left to do";
}

TEST(SchemaTest, an_older_file_takes_only_the_steps_that_it_lacks_and_keeps_its_rows) {
  const StoreDirectory directory;
  auto database = open_database(directory);
  ASSERT_TRUE(migrate(database, std::span(made_up, 1)));
  ASSERT_TRUE(database.execute("INSERT INTO a VALUES ('kept')"));
  ASSERT_TRUE(*migrate(database, made_up));
  EXPECT_EQ(*database.text("SELECT c FROM a"), "kept");
}

TEST(SchemaTest, a_step_that_fails_leaves_the_version_before_it) {
  const StoreDirectory directory;
  auto database = open_database(directory);
  const Migration steps[] = {
      made_up[0],
      {.to_version = 2, .sql = "ALTER TABLE a ADD COLUMN c TEXT; INSERT INTO nowhere VALUES (1);"}};
  EXPECT_FALSE(migrate(database, steps));
  EXPECT_EQ(*database.integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*database.text("SELECT sql FROM sqlite_schema"), "CREATE TABLE a (b TEXT) STRICT");
}

TEST(SchemaTest, a_step_that_forgets_its_version_is_refused) {
  const StoreDirectory directory;
  auto database = open_database(directory);
  const Migration steps[] = {{.to_version = 1, .sql = "CREATE TABLE a (b TEXT) STRICT"}};
  EXPECT_EQ(migrate(database, steps).error().code, ErrorCode::internal);
  EXPECT_EQ(*database.integer("SELECT count(*) FROM sqlite_schema"), 0);
}

TEST(SchemaTest, the_last_step_leads_to_the_version_of_this_program) {
  EXPECT_EQ(migrations().back().to_version, store_schema_version);
  auto database = *Database::open_in_memory();
  ASSERT_TRUE(*migrate(database, migrations()));
  EXPECT_EQ(*database.integer("PRAGMA user_version"), store_schema_version);
  EXPECT_EQ(*database.integer("PRAGMA application_id"), store_application_id);
  EXPECT_EQ(judge(database, true)->kind, FileKind::store);
}

TEST(SchemaTest, a_store_of_version_zero_with_our_mark_is_brought_up_to_date) {
  const StoreDirectory directory;
  run_sql(directory.file("normd.db"), "PRAGMA application_id = 1852797549");
  auto store = open_store(directory.path());
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA user_version"), "2");
}

// A store with two winners as the first version of the schema kept them.
void make_store_of_version_1(const StoreDirectory& directory) {
  const StoreDirectory of_today;
  make_store(of_today.path(), 2);
  const std::string columns =
      "key, fingerprint, candidate, launch, template_digest, binary_digest, measurements, "
      "median_ns, default_candidate, default_measurements, default_median_ns, ties, device_name, "
      "device_uuid, driver, compiler, tuned_by, tuned_at_unix_s, tuning_ms, pinned, "
      "used_at_unix_s";
  run_sql(directory.file("normd.db"),
          sql::version_1 + ("ATTACH '" + of_today.file("normd.db") + "' AS today;") +
              "INSERT INTO device SELECT * FROM today.device;" + "INSERT INTO winner (" + columns +
              ") SELECT " + columns + " FROM today.winner");
}

Winner winner_of_version_1(int number) {
  Winner winner = sample_winner(number);
  winner.catalog_digest.clear();
  return winner;
}

TEST(SchemaTest, a_store_of_version_1_is_brought_up_to_date_and_keeps_its_winners) {
  const StoreDirectory directory;
  make_store_of_version_1(directory);
  auto store = open_store(directory.path());
  EXPECT_EQ(**store->find_winner(sample_key(0)), winner_of_version_1(0));
  ASSERT_TRUE(store->put_winner(sample_winner(1), {}));
  EXPECT_EQ(**store->find_winner(sample_key(1)), sample_winner(1));
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA user_version"), "2");
}

TEST(SchemaTest, a_store_of_version_1_that_may_only_be_read_is_read_and_stays_as_it_is) {
  const StoreDirectory directory;
  make_store_of_version_1(directory);
  const std::string bytes = read_bytes(directory.file("normd.db"));
  auto store = open_store(directory.path(), Store::Mode::read_only);
  EXPECT_EQ(**store->find_winner(sample_key(0)), winner_of_version_1(0));
  EXPECT_EQ(store->list_winners({})->size(), 2u);
  EXPECT_EQ(store->status().winners, 2);
  EXPECT_EQ(store->status().rows_unreadable, 0);
  EXPECT_EQ(read_bytes(directory.file("normd.db")), bytes);
  // It goes on when another process takes the step meanwhile.
  open_store(directory.path());
  EXPECT_EQ(open_store(directory.path(), Store::Mode::read_only)->list_winners({})->size(), 2u);
  EXPECT_TRUE(**store->find_winner(sample_key(0)) == winner_of_version_1(0));
}

TEST(SchemaTest, a_file_that_was_written_without_a_log_is_taken_as_it_is) {
  const StoreDirectory directory;
  make_store(directory.path(), 2);
  run_sql(directory.file("normd.db"), "PRAGMA journal_mode = DELETE");
  auto store = open_store(directory.path());
  EXPECT_TRUE(has_winner(*store, 1));
  ASSERT_TRUE(store->put_winner(sample_winner(2), {}));
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA journal_mode"), "wal");
}

TEST(SchemaTest, every_table_is_strict_and_no_column_may_be_null) {
  auto database = *Database::open_in_memory();
  ASSERT_TRUE(migrate(database, migrations()));
  EXPECT_EQ(*database.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                              "strict = 0 AND name NOT LIKE 'sqlite_%'"),
            0);
  EXPECT_EQ(*database.integer("SELECT count(*) FROM pragma_table_list AS t, "
                              "pragma_table_info(t.name) AS c WHERE t.schema = 'main' AND "
                              "t.name NOT LIKE 'sqlite_%' AND c.\"notnull\" = 0"),
            0);
}

TEST(SchemaTest, a_value_of_the_wrong_type_or_range_is_refused) {
  auto database = *Database::open_in_memory();
  ASSERT_TRUE(migrate(database, migrations()));
  EXPECT_FALSE(database.execute("INSERT INTO device VALUES ('f', 'n', 'u', 'd', 'late')"));
  EXPECT_FALSE(database.execute("INSERT INTO device VALUES ('', 'n', 'u', 'd', 1)"));
  ASSERT_TRUE(database.execute("INSERT INTO device VALUES ('f', 'n', 'u', 'd', 1)"));
  EXPECT_FALSE(
      database.execute("INSERT INTO trial VALUES "
                       "('k','f','c','n',3,0,'','',0,0,'',1,1,1,1,1)"))
      << "verdict 3 is not_tried";
  EXPECT_FALSE(
      database.execute("INSERT INTO trial VALUES "
                       "('k','unknown','c','n',1,0,'','',0,0,'',1,1,1,1,1)"));
}

}  // namespace
}  // namespace normd
