// Several processes, or a stranger, on one store.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

std::string integrity(const StoreDirectory& directory) {
  return ask_sql(directory.file("normd.db"), "PRAGMA integrity_check");
}

TEST(StoreSharingTest, two_processes_that_write_in_turns_lose_no_row) {
  const StoreDirectory directory;
  constexpr int count = 150;
  StoreProcess one("write", directory.path(), {"0", std::to_string(count)});
  StoreProcess other("write", directory.path(), {"1000", std::to_string(count)});
  EXPECT_EQ(one.rest().size(), static_cast<std::size_t>(count));
  EXPECT_EQ(other.rest().size(), static_cast<std::size_t>(count));
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(other.wait(), 0);
  auto store = open_store(directory.path());
  for (int number = 0; number < count; ++number) {
    EXPECT_TRUE(has_winner(*store, number));
    EXPECT_TRUE(has_winner(*store, 1000 + number));
    EXPECT_TRUE(store->find_binary(sample_binary(number).digest)->has_value());
  }
  EXPECT_EQ(integrity(directory), "ok");
}

TEST(StoreSharingTest, rows_of_another_process_are_seen_at_once_and_told_once) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  EXPECT_FALSE(store->changed_by_others());
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  EXPECT_FALSE(store->changed_by_others()) << "own rows are no news";
  StoreProcess other("write", directory.path(), {"5", "1"});
  EXPECT_EQ(other.line(), "ok 5");
  EXPECT_TRUE(has_winner(*store, 5));
  other.wait();
  EXPECT_TRUE(store->changed_by_others());
  EXPECT_FALSE(store->changed_by_others());
}

TEST(StoreSharingTest, a_stranger_who_holds_the_lock_for_two_seconds_is_not_noticed) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  StoreProcess stranger("hold", directory.path(), {"2000"});
  ASSERT_EQ(stranger.line(), "holding");
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  EXPECT_GT(std::chrono::steady_clock::now() - start, milliseconds(1000));
  const StoreStatus status = store->status();
  EXPECT_TRUE(status.persistent);
  EXPECT_EQ(status.degraded_reason, "");
  EXPECT_EQ(status.rows_waiting, 0);
}

TEST(StoreSharingTest, behind_a_longer_lock_rows_wait_in_memory_and_are_written_later) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  StoreProcess stranger("hold", directory.path(), {"60000"});
  ASSERT_EQ(stranger.line(), "holding");
  ASSERT_TRUE(store->put_winner(sample_winner(0), {measured_trial(0)}));
  const auto start = std::chrono::steady_clock::now();
  for (int number = 1; number < 50; ++number) {
    ASSERT_TRUE(store->put_winner(sample_winner(number), {}));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000))
      << "only the first one waits";
  EXPECT_TRUE(has_winner(*store, 0));
  EXPECT_EQ(store->list_winners({.limit = 20})->size(), 20u);
  EXPECT_FALSE(store->status().persistent);
  EXPECT_NE(store->status().degraded_reason.find("locked"), std::string::npos);
  EXPECT_FALSE(store->tidy());
  stranger.kill();
  stranger.wait();
  ASSERT_TRUE(store->tidy());
  EXPECT_TRUE(store->status().persistent);
  EXPECT_EQ(store->status().degraded_reason, "");
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "SELECT count(*) FROM winner"), "50");
}

TEST(StoreSharingTest, a_process_that_stops_in_its_turn_does_not_stop_the_others) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  const int turn = ::open(directory.file("normd.db.turn").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(turn, LOCK_EX), 0);
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  EXPECT_TRUE(has_winner(*store, 0));
  EXPECT_EQ(store->status().rows_waiting, 1);
  ::close(turn);
  ASSERT_TRUE(store->tidy());
  EXPECT_EQ(store->status().rows_waiting, 0);
}

TEST(StoreSharingTest, killing_a_writer_25_times_loses_no_acknowledged_row) {
  const StoreDirectory directory;
  std::mt19937 random(25);
  std::set<int> acknowledged;
  for (int round = 0; round < 25; ++round) {
    const int first = round * 10'000;
    StoreProcess writer("write", directory.path(), {std::to_string(first), "9999"});
    ASSERT_EQ(writer.line(), "ok " + std::to_string(first));
    acknowledged.insert(first);
    std::this_thread::sleep_for(milliseconds(random() % 120));
    writer.kill();
    for (const std::string& line : writer.rest()) {
      ASSERT_TRUE(line.starts_with("ok "));
      acknowledged.insert(std::stoi(line.substr(3)));
    }
    ASSERT_EQ(writer.wait(), -SIGKILL);
    if (round % 5 == 4) {
      EXPECT_EQ(integrity(directory), "ok");
    }
  }
  auto store = open_store(directory.path());
  EXPECT_EQ(store->status().set_aside, "");
  int lost = 0;
  for (const int number : acknowledged) {
    const bool found = has_winner(*store, number) &&
                       store->find_binary(sample_binary(number).digest)->has_value() &&
                       store->find_trials(sample_key(number))->size() == 1;
    lost += found ? 0 : 1;
  }
  EXPECT_EQ(lost, 0) << "of " << acknowledged.size();
  EXPECT_GT(acknowledged.size(), 30u);
  EXPECT_EQ(integrity(directory), "ok");
}

}  // namespace
}  // namespace normd
