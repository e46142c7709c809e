// A store that cannot be written, now or for good: what is known is served, and nothing is lost
// that could be kept.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

// While it lives no file of this process may grow past the limit: writes fail as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit lower{.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  sighandler_t before_ = nullptr;
};

void fill_while_degraded(Store& store, int first, int count) {
  for (int number = first; number < first + count; ++number) {
    ASSERT_TRUE(store.put_binary(sample_binary(number)));
    ASSERT_TRUE(store.put_winner(sample_winner(number), {measured_trial(number)}));
  }
}

void expect_all(Store& store, int count) {
  for (int number = 0; number < count; ++number) {
    EXPECT_TRUE(has_winner(store, number)) << number;
    EXPECT_EQ(store.find_trials(sample_key(number))->size(), 1u);
    EXPECT_TRUE(store.find_binary(sample_binary(number).digest)->has_value());
  }
  EXPECT_EQ(store.list_winners({.limit = 1000})->size(), static_cast<std::size_t>(count));
}

TEST(StoreDegradedTest, a_write_that_fails_waits_in_memory_until_there_is_space) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  fill_while_degraded(*store, 0, 3);
  {
    const FileSizeLimit limit(std::filesystem::file_size(directory.file("normd.db-wal")) + 5000);
    fill_while_degraded(*store, 3, 10);
    const StoreStatus status = store->status();
    EXPECT_FALSE(status.persistent);
    EXPECT_NE(status.degraded_reason.find("disk I/O error"), std::string::npos)
        << status.degraded_reason;
    EXPECT_GE(status.rows_waiting, 29);
    EXPECT_EQ(status.winners, 13);
    expect_all(*store, 13);
    EXPECT_FALSE(store->tidy());
    EXPECT_FALSE(store->forget(sample_key(0))) << "an operator must know";
    EXPECT_TRUE(store->try_lease(sample_key(99), 1000)->has_value()) << "tuning goes on";
  }
  ASSERT_TRUE(store->tidy());
  const StoreStatus status = store->status();
  EXPECT_TRUE(status.persistent);
  EXPECT_EQ(status.degraded_reason, "");
  EXPECT_EQ(status.rows_waiting, 0);
  expect_all(*store, 13);
  store.reset();
  expect_all(*open_store(directory.path()), 13);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
}

TEST(StoreDegradedTest, a_newer_row_in_memory_hides_the_one_on_disk_and_a_pinned_one_stays) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  fill_while_degraded(*store, 0, 2);
  ASSERT_TRUE(store->set_pinned(sample_key(1), true));
  Winner newer = sample_winner(0);
  newer.tuning_ms = 1;
  Winner unwanted = sample_winner(1);
  unwanted.tuning_ms = 1;
  for (int space_again = 0; space_again < 2; ++space_again) {
    const FileSizeLimit limit(space_again ? RLIM_INFINITY : 4096);
    if (space_again == 0) {
      ASSERT_TRUE(store->put_winner(newer, {}));
      ASSERT_TRUE(store->put_winner(unwanted, {}));
    } else {
      ASSERT_TRUE(store->tidy());
    }
    EXPECT_EQ((*store->find_winner(sample_key(0)))->tuning_ms, 1);
    const Winner pinned = **store->find_winner(sample_key(1));
    EXPECT_TRUE(pinned.pinned);
    EXPECT_EQ(pinned.tuning_ms, sample_winner(1).tuning_ms);
    EXPECT_EQ(store->list_winners({})->size(), 2u);
  }
}

TEST(StoreDegradedTest, on_a_full_file_system_it_serves_and_writes_again_when_there_is_space) {
  const StoreDirectory directory;
  if (::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  const std::string ballast = directory.file("ballast");
  {
    auto store = open_store(directory.path());
    write_bytes(ballast, std::string(500'000, 'b'));
    fill_while_degraded(*store, 0, 30);
    EXPECT_FALSE(store->status().persistent);
    EXPECT_NE(store->status().degraded_reason.find("full"), std::string::npos)
        << store->status().degraded_reason;
    expect_all(*store, 30);
    std::filesystem::remove(ballast);
    ASSERT_EQ(::mount("tmpfs", directory.path().c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ASSERT_TRUE(store->tidy());
    EXPECT_TRUE(store->status().persistent) << store->status().degraded_reason;
  }
  expect_all(*open_store(directory.path()), 30);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(::umount(directory.path().c_str()), 0);
}

TEST(StoreDegradedTest, a_place_that_cannot_be_made_keeps_rows_in_memory_and_names_the_setting) {
  const StoreDirectory directory;
  write_bytes(directory.file("file"), "");
  for (const std::string& place : {directory.file("file/normd"), std::string("/proc/normd")}) {
    auto store = open_store(place);
    EXPECT_FALSE(store->status().persistent);
    EXPECT_NE(store->status().degraded_reason.find("--store or NORMD_STORE"), std::string::npos);
    fill_while_degraded(*store, 0, 3);
    expect_all(*store, 3);
    EXPECT_TRUE(store->set_pinned(sample_key(0), true));
    EXPECT_EQ(*store->forget(sample_key(1)), 2);
    EXPECT_FALSE(has_winner(*store, 1));
    EXPECT_TRUE(store->try_lease(sample_key(0), 1000)->has_value());
    EXPECT_FALSE(store->changed_by_others());
    EXPECT_EQ(store->status().winners, 2);
  }
}

TEST(StoreDegradedTest, a_place_that_appears_later_gets_the_rows) {
  const StoreDirectory directory;
  write_bytes(directory.file("place"), "in the way");
  auto store = open_store(directory.file("place"));
  fill_while_degraded(*store, 0, 3);
  EXPECT_FALSE(store->tidy());
  std::filesystem::remove(directory.file("place"));
  ASSERT_TRUE(store->tidy());
  EXPECT_TRUE(store->status().persistent) << store->status().degraded_reason;
  store.reset();
  expect_all(*open_store(directory.file("place")), 3);
}

TEST(StoreDegradedTest, the_directory_is_made_for_its_user_alone) {
  const StoreDirectory directory;
  open_store(directory.file("a/b"));
  struct stat found {};
  ASSERT_EQ(::stat(directory.file("a/b").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
}

class StoreLostFileTest : public ::testing::TestWithParam<std::vector<const char*>> {};

TEST_P(StoreLostFileTest, is_noticed_at_the_next_write_and_everything_known_is_written_anew) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  auto store = open_store(directory.path());
  fill_while_degraded(*store, 3, 2);
  for (const char* name : GetParam()) std::filesystem::remove_all(directory.file(name));
  fill_while_degraded(*store, 5, 1);
  EXPECT_TRUE(store->status().persistent) << store->status().degraded_reason;
  expect_all(*store, 6);
  EXPECT_TRUE(store->changed_by_others());
  store.reset();
  store = open_store(directory.path());
  EXPECT_EQ(store->status().set_aside, "");
  expect_all(*store, 6);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
}

TEST_P(StoreLostFileTest, is_noticed_without_a_write_too) {
  const StoreDirectory directory;
  make_store(directory.path(), 3);
  auto store = open_store(directory.path());
  EXPECT_TRUE(has_winner(*store, 0));
  for (const char* name : GetParam()) std::filesystem::remove_all(directory.file(name));
  EXPECT_TRUE(store->changed_by_others());
  expect_all(*open_store(directory.path()), 3);
}

INSTANTIATE_TEST_SUITE_P(
    , StoreLostFileTest,
    ::testing::Values(std::vector{"normd.db"}, std::vector{"normd.db-wal"},
                      std::vector{"normd.db-shm"}, std::vector{"normd.db", "normd.db-wal"},
                      std::vector{"normd.db", "normd.db-wal", "normd.db-shm", "normd.db.turn"},
                      std::vector{""}));

TEST(StoreDegradedTest, a_file_put_in_its_place_is_taken_up_and_its_rows_come_first) {
  const StoreDirectory directory;
  const StoreDirectory elsewhere;
  Winner other = sample_winner(0);
  other.tuned_by = "someone else";
  ASSERT_TRUE(open_store(elsewhere.path())->put_winner(other, {}));
  auto store = open_store(directory.path());
  fill_while_degraded(*store, 0, 2);
  std::filesystem::rename(elsewhere.file("normd.db"), directory.file("normd.db"));
  EXPECT_TRUE(store->changed_by_others());
  EXPECT_EQ((*store->find_winner(sample_key(0)))->tuned_by, "someone else");
  EXPECT_TRUE(has_winner(*store, 1));
  EXPECT_TRUE(store->status().persistent);
}

TEST(StoreDegradedTest, damage_under_an_open_store_sets_the_file_aside_and_saves_what_can_be_read) {
  const StoreDirectory directory;
  make_store(directory.path(), 40);
  auto store = open_store(directory.path());
  // A stranger's write makes this connection forget the pages that it has in memory.
  run_sql(directory.file("normd.db"),
          "PRAGMA wal_autocheckpoint = 0; DELETE FROM lease; INSERT INTO lease VALUES ('k', 'o', "
          "1, '', 0, 0)");
  const std::string bytes = read_bytes(directory.file("normd.db"));
  const std::string damaged = bytes.substr(0, 4096) + std::string(bytes.size() - 4096, 'x');
  {
    std::FILE* file = std::fopen(directory.file("normd.db").c_str(), "r+b");
    ASSERT_EQ(std::fwrite(damaged.data(), 1, damaged.size(), file), damaged.size());
    std::fclose(file);
  }
  fill_while_degraded(*store, 50, 2);
  for (int i = 0; i < 3; ++i) static_cast<void>(store->tidy());
  EXPECT_TRUE(has_winner(*store, 50));
  EXPECT_TRUE(store->find_winner(sample_key(3)).has_value()) << "a miss, not an error";
  EXPECT_TRUE(store->status().persistent) << store->status().degraded_reason;
  EXPECT_EQ(directory.names("normd.db.corrupt-20").empty(), false);
  store.reset();
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace normd
