// Several threads on one store.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

TEST(StoreThreadsTest, threads_may_share_a_store) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  {
    std::vector<std::jthread> threads;
    for (int first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (int number = first * 100; number < first * 100 + 25; ++number) {
          EXPECT_TRUE(store->put_winner(sample_winner(number), {measured_trial(1)}));
          EXPECT_TRUE(has_winner(*store, number));
          EXPECT_TRUE(store->list_winners({.limit = 5}).has_value());
          store->status();
        }
      });
    }
  }
  EXPECT_EQ(store->status().winners, 100);
}

// Everything that is asked while another thread of this process waits to write.
void expect_no_wait_for_the_writer(Store& store, const std::function<void()>& let_go) {
  std::jthread writer([&] { EXPECT_TRUE(store.put_winner(sample_winner(1), {})); });
  std::this_thread::sleep_for(milliseconds(200));
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(has_winner(store, 0));
    EXPECT_FALSE(has_winner(store, 2));
    EXPECT_TRUE(store.find_binary(sample_binary(0).digest)->has_value());
    EXPECT_EQ(store.list_winners({})->size(), 1u);
    EXPECT_EQ(store.status().winners, 1);
    store.changed_by_others();
    static_cast<void>(store.tidy());
    EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(200));
  }
  let_go();
  writer.join();
  EXPECT_TRUE(has_winner(store, 1));
  EXPECT_EQ(store.status().rows_waiting, 0);
}

TEST(StoreThreadsTest, who_reads_waits_for_no_writer_that_waits_for_the_lock) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  auto store = open_store(directory.path());
  StoreProcess stranger("hold", directory.path(), {"60000"});
  ASSERT_EQ(stranger.line(), "holding");
  expect_no_wait_for_the_writer(*store, [&] { stranger.kill(); });
}

TEST(StoreThreadsTest, who_reads_waits_for_no_writer_that_waits_for_its_turn) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  auto store = open_store(directory.path());
  const int turn = ::open(directory.file("normd.db.turn").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(turn, LOCK_EX), 0);
  expect_no_wait_for_the_writer(*store, [&] { ::close(turn); });
}

}  // namespace
}  // namespace normd
