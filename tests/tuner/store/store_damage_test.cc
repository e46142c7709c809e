// What is wrong with a store file when it is opened, and what becomes of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <ostream>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

struct Damage {
  const char* name;
  std::function<std::string(std::string)> inflict;  // the sound file's bytes in, the damaged out
};

std::string with(std::string bytes, std::size_t at, std::size_t count, char fill, int step) {
  for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(fill + step * i);
  return bytes;
}

const Damage damages[] = {
    {"garbage_at_the_head", [](std::string b) { return with(std::move(b), 0, 32, 7, 13); }},
    {"zeroed_header", [](std::string b) { return with(std::move(b), 0, 100, 0, 0); }},
    {"zeroed_second_page", [](std::string b) { return with(std::move(b), 4096, 4096, 0, 0); }},
    {"garbage_in_a_page", [](std::string b) { return with(std::move(b), 8 * 4096, 4096, 3, 91); }},
    {"only_the_first_100_bytes", [](std::string b) { return b.substr(0, 100); }},
    {"only_the_first_half", [](std::string b) { return b.substr(0, b.size() / 2); }},
    {"a_text_file", [](std::string) { return std::string("Dear store,\nI am a letter.\n"); }},
};

std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.name;
}

class StoreDamageTest : public ::testing::TestWithParam<Damage> {};

TEST_P(StoreDamageTest, is_set_aside_under_a_dated_name_and_a_new_file_serves) {
  const StoreDirectory directory;
  make_store(directory.path(), 20);
  const std::string damaged = GetParam().inflict(read_bytes(directory.file("normd.db")));
  write_bytes(directory.file("normd.db"), damaged);

  auto store = open_store(directory.path());
  const StoreStatus status = store->status();
  EXPECT_TRUE(status.persistent) << status.degraded_reason;
  EXPECT_TRUE(status.set_aside.starts_with(directory.file("normd.db.corrupt-20")))
      << status.set_aside;
  EXPECT_EQ(read_bytes(status.set_aside), damaged) << "kept as it was";
  EXPECT_EQ(status.winners, 0);
  ASSERT_TRUE(store->put_winner(sample_winner(1), {}));
  store.reset();

  store = open_store(directory.path());
  EXPECT_TRUE(has_winner(*store, 1));
  EXPECT_EQ(store->status().set_aside, "") << "set aside once, not at every start";
  EXPECT_EQ(directory.names("normd.db.corrupt").size(), 1u);
}

TEST_P(StoreDamageTest, is_reported_and_left_alone_by_a_reader) {
  const StoreDirectory directory;
  make_store(directory.path(), 20);
  const std::string damaged = GetParam().inflict(read_bytes(directory.file("normd.db")));
  write_bytes(directory.file("normd.db"), damaged);
  const auto names = directory.names("");
  const auto store = Store::open(directory.path(), Store::Mode::read_only);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::data_loss) << store.error().message;
  EXPECT_EQ(read_bytes(directory.file("normd.db")), damaged);
  EXPECT_EQ(directory.names(""), names);
}

TEST_P(StoreDamageTest, is_set_aside_once_by_two_who_start_together) {
  const StoreDirectory directory;
  make_store(directory.path(), 20);
  write_bytes(directory.file("normd.db"),
              GetParam().inflict(read_bytes(directory.file("normd.db"))));
  StoreProcess one("open", directory.path(), {});
  StoreProcess other("open", directory.path(), {});
  EXPECT_EQ(one.rest(), std::vector<std::string>{"ok"});
  EXPECT_EQ(other.rest(), std::vector<std::string>{"ok"});
  EXPECT_EQ(directory.names("normd.db.corrupt").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, StoreDamageTest, ::testing::ValuesIn(damages),
                         [](const auto& instance) { return instance.param.name; });

TEST(StoreFileTest, an_empty_file_is_a_new_store) {
  const StoreDirectory directory;
  write_bytes(directory.file("normd.db"), "");
  EXPECT_EQ(Store::open(directory.path(), Store::Mode::read_only).error().code,
            ErrorCode::not_found);
  auto store = open_store(directory.path());
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(store->status().set_aside, "");
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA application_id"), "1852797549");
}

void expect_left_untouched(const StoreDirectory& directory, const char* word) {
  const std::string bytes = read_bytes(directory.file("normd.db"));
  for (const auto mode : {Store::Mode::read_write, Store::Mode::read_only}) {
    const auto store = Store::open(directory.path(), mode);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::failed_precondition);
    EXPECT_NE(store.error().message.find(word), std::string::npos) << store.error().message;
  }
  EXPECT_EQ(read_bytes(directory.file("normd.db")), bytes);
  EXPECT_EQ(directory.names("normd.db-"), std::vector<std::string>{});
  EXPECT_EQ(directory.names("normd.db.corrupt"), std::vector<std::string>{});
}

TEST(StoreFileTest, a_newer_schema_is_refused_and_not_a_byte_is_changed) {
  const StoreDirectory directory;
  make_store(directory.path(), 2);
  run_sql(directory.file("normd.db"), "PRAGMA journal_mode = DELETE; PRAGMA user_version = 3");
  expect_left_untouched(directory, "schema version is 3");
  run_sql(directory.file("normd.db"), "PRAGMA journal_mode = WAL");
  expect_left_untouched(directory, "schema version is 3");
}

TEST(StoreFileTest, a_newer_schema_that_is_still_in_the_log_is_refused_too) {
  const StoreDirectory directory;
  make_store(directory.path(), 2);
  // As another process that is alive leaves it: the version is in the log only.
  auto reader = open_store(directory.path());
  EXPECT_TRUE(has_winner(*reader, 0));
  run_sql(directory.file("normd.db"), "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 3");
  EXPECT_EQ(Store::open(directory.path(), Store::Mode::read_write).error().code,
            ErrorCode::failed_precondition);
  // The one that was there first stops writing, and goes on.
  ASSERT_TRUE(reader->put_winner(sample_winner(5), {}));
  EXPECT_TRUE(has_winner(*reader, 5));
  EXPECT_FALSE(reader->status().persistent);
  EXPECT_NE(reader->status().degraded_reason.find("schema version 3"), std::string::npos)
      << reader->status().degraded_reason;
}

TEST(StoreFileTest, another_programs_database_is_refused_and_not_a_byte_is_changed) {
  const StoreDirectory directory;
  run_sql(directory.file("normd.db"), "PRAGMA application_id = 77; CREATE TABLE a(b)");
  expect_left_untouched(directory, "application_id is 77");
}

TEST(StoreFileTest, a_database_without_an_id_but_with_tables_is_refused) {
  const StoreDirectory directory;
  run_sql(directory.file("normd.db"), "CREATE TABLE winner(key)");
  expect_left_untouched(directory, "application_id is 0");
}

TEST(StoreFileTest, a_log_of_another_database_does_not_cost_the_file) {
  const StoreDirectory directory;
  const StoreDirectory other;
  make_store(directory.path(), 3);
  // The log of a database that is open, with all of that database in it.
  auto open_elsewhere = open_store(other.path());
  run_sql(other.file("normd.db"),
          "PRAGMA wal_autocheckpoint = 0; PRAGMA application_id = 5; CREATE TABLE a(b); "
          "INSERT INTO a VALUES (randomblob(90000))");
  const std::string log = read_bytes(other.file("normd.db-wal"));
  ASSERT_GT(log.size(), 90'000u);
  write_bytes(directory.file("normd.db-wal"), log);

  auto store = open_store(directory.path());
  EXPECT_TRUE(store->status().persistent) << store->status().degraded_reason;
  EXPECT_TRUE(store->status().set_aside.ends_with("-wal")) << store->status().set_aside;
  EXPECT_EQ(read_bytes(store->status().set_aside), log);
  for (int number = 0; number < 3; ++number) EXPECT_TRUE(has_winner(*store, number));
  ASSERT_TRUE(store->put_winner(sample_winner(3), {}));
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
}

TEST(StoreFileTest, garbage_as_a_log_or_an_index_is_survived) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  write_bytes(directory.file("normd.db-wal"), std::string(50'000, 'x'));
  write_bytes(directory.file("normd.db-shm"), std::string(32'768, 'y'));
  auto store = open_store(directory.path());
  EXPECT_TRUE(has_winner(*store, 2));
  ASSERT_TRUE(store->put_winner(sample_winner(3), {}));
  EXPECT_TRUE(store->status().persistent);
}

TEST(StoreFileTest, a_log_whose_file_is_gone_is_survived) {
  const StoreDirectory directory;
  {
    StoreProcess writer("write", directory.path(), {"0", "1000000"});
    for (int i = 0; i < 20; ++i) writer.line();
    writer.kill();
  }
  ASSERT_GT(std::filesystem::file_size(directory.file("normd.db-wal")), 0u);
  std::filesystem::remove(directory.file("normd.db"));
  auto store = open_store(directory.path());
  ASSERT_TRUE(store->put_winner(sample_winner(3), {}));
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(store->status().winners, 1);
}

}  // namespace
}  // namespace normd
