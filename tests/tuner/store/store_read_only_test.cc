// Mode read_only: what is there is read in any place, and nothing is changed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

constexpr const char* nobody = "65534";

// Leaves the file with a log that holds all rows, as a writer that was killed leaves it.
void make_killed_store(const std::string& directory, int count) {
  StoreProcess writer("write", directory, {"0", "1000000"});
  for (int i = 0; i < count; ++i) ASSERT_EQ(writer.line(), "ok " + std::to_string(i));
  writer.kill();
}

std::string listed_by_nobody(const std::string& directory) {
  StoreProcess reader("list", directory, {nobody});
  return reader.line();
}

class StoreReadOnlyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  }
};

TEST(StoreReadOnly, a_missing_store_is_not_found_and_not_made) {
  const StoreDirectory directory;
  EXPECT_EQ(Store::open(directory.file("a"), Store::Mode::read_only).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(directory.names(""), std::vector<std::string>{});
}

TEST(StoreReadOnly, a_closed_store_is_read_without_a_trace) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  const std::string bytes = read_bytes(directory.file("normd.db"));
  const auto names = directory.names("");
  auto store = open_store(directory.path(), Store::Mode::read_only);
  EXPECT_TRUE(has_winner(*store, 2));
  EXPECT_EQ(store->list_winners({})->size(), 3u);
  EXPECT_FALSE(store->changed_by_others());
  EXPECT_TRUE(store->tidy());
  EXPECT_FALSE(store->status().persistent);
  EXPECT_EQ(directory.names(""), names);
  EXPECT_EQ(read_bytes(directory.file("normd.db")), bytes);
}

TEST(StoreReadOnly, nothing_can_be_written) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  auto store = open_store(directory.path(), Store::Mode::read_only);
  EXPECT_EQ(store->put_winner(sample_winner(1), {}).error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(store->put_binary(sample_binary(1)).error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(store->forget(sample_key(0)).error().code, ErrorCode::failed_precondition);
  EXPECT_FALSE(has_winner(*store, 1));
}

TEST(StoreReadOnly, a_store_in_use_is_read_with_its_latest_rows) {
  const StoreDirectory directory;
  auto writer = open_store(directory.path());
  ASSERT_TRUE(writer->put_winner(sample_winner(0), {}));
  auto reader = open_store(directory.path(), Store::Mode::read_only);
  EXPECT_TRUE(has_winner(*reader, 0));
  ASSERT_TRUE(writer->put_winner(sample_winner(1), {}));
  EXPECT_TRUE(has_winner(*reader, 1));
  EXPECT_TRUE(reader->changed_by_others());
}

TEST(StoreReadOnly, a_log_without_its_index_is_read_aside_and_left_as_it_is) {
  const StoreDirectory directory;
  make_killed_store(directory.path(), 5);
  std::filesystem::remove(directory.file("normd.db-shm"));
  const std::string log = read_bytes(directory.file("normd.db-wal"));
  auto store = open_store(directory.path(), Store::Mode::read_only);
  for (int number = 0; number < 5; ++number) EXPECT_TRUE(has_winner(*store, number));
  EXPECT_EQ(read_bytes(directory.file("normd.db-wal")), log);
  EXPECT_EQ(directory.names("normd.db-shm"), std::vector<std::string>{});
}

TEST_F(StoreReadOnlyTest, another_user_reads_a_closed_store_in_a_directory_it_cannot_write) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  EXPECT_EQ(listed_by_nobody(directory.path()), "3");
}

TEST_F(StoreReadOnlyTest, another_user_reads_a_store_in_use) {
  const StoreDirectory directory;
  auto writer = open_store(directory.path());
  ASSERT_TRUE(writer->put_winner(sample_winner(0), {}));
  EXPECT_EQ(listed_by_nobody(directory.path()), "1");
}

TEST_F(StoreReadOnlyTest, another_user_reads_what_a_killed_writer_left) {
  const StoreDirectory directory;
  make_killed_store(directory.path(), 7);
  auto listed = listed_by_nobody(directory.path());
  EXPECT_GE(std::stoi(listed), 7) << listed;
  std::filesystem::remove(directory.file("normd.db-shm"));
  listed = listed_by_nobody(directory.path());
  EXPECT_GE(std::stoi(listed), 7) << listed;
}

TEST_F(StoreReadOnlyTest, a_store_that_may_not_be_read_is_refused_in_words) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  ::chmod(directory.file("normd.db").c_str(), 0600);
  EXPECT_NE(listed_by_nobody(directory.path()).find("Permission denied"), std::string::npos);
}

TEST_F(StoreReadOnlyTest, a_writer_in_a_directory_it_cannot_write_serves_what_is_there) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  StoreProcess daemon("serve", directory.path(), {nobody});
  EXPECT_EQ(daemon.line(), "found");
  EXPECT_EQ(daemon.line(), "kept");
  EXPECT_NE(daemon.line().find("Permission denied"), std::string::npos);
  EXPECT_EQ(directory.names("").size(), 2u);
}

}  // namespace
}  // namespace normd
