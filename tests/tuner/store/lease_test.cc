#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

bool free_to_take(Store& store, int number) {
  const auto lease = store.try_lease(sample_key(number), 10'000);
  EXPECT_TRUE(lease.has_value());
  return lease && lease->has_value();
}

TEST(LeaseTest, one_key_has_one_holder_until_it_lets_go) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto lease = *store->try_lease(sample_key(0), 10'000);
  ASSERT_TRUE(lease.has_value());
  EXPECT_FALSE(free_to_take(*store, 0)) << "two tunings of one process are two holders";
  EXPECT_TRUE(free_to_take(*store, 1));
  StoreProcess other("lease", directory.path(), {"10000"});
  EXPECT_EQ(other.line(), "refused");
  EXPECT_TRUE(lease->renew());
  lease.reset();
  EXPECT_TRUE(free_to_take(*store, 0));
}

TEST(LeaseTest, a_killed_holders_lease_is_free_at_once) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  StoreProcess holder("lease", directory.path(), {"60000"});
  ASSERT_EQ(holder.line(), "taken");
  EXPECT_FALSE(free_to_take(*store, 0)) << "its holder lives";
  holder.kill();
  holder.wait();
  EXPECT_TRUE(free_to_take(*store, 0));
}

TEST(LeaseTest, a_lease_that_is_not_renewed_is_free_when_it_runs_out_and_not_before) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  StoreProcess holder("lease", directory.path(), {"1500"});
  ASSERT_EQ(holder.line(), "taken");
  const auto taken_at = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration waited{};
  while (!free_to_take(*store, 0)) {
    waited = std::chrono::steady_clock::now() - taken_at;
    ASSERT_LT(waited, milliseconds(10'000));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_GT(waited, milliseconds(1200));
}

TEST(LeaseTest, renewing_prolongs_it) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto lease = *store->try_lease(sample_key(0), 400);
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_TRUE(lease->renew());
    EXPECT_FALSE(free_to_take(*store, 0));
  }
}

TEST(LeaseTest, a_holder_that_was_too_slow_learns_that_it_lost) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto slow = *store->try_lease(sample_key(0), 1);
  std::this_thread::sleep_for(milliseconds(10));
  auto next = *store->try_lease(sample_key(0), 60'000);
  ASSERT_TRUE(next.has_value());
  const auto renewed = slow->renew();
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, ErrorCode::not_found);
  slow.reset();
  EXPECT_FALSE(free_to_take(*store, 0)) << "letting go of a lost lease leaves the next holder's";
}

TEST(LeaseTest, a_lease_that_ran_out_is_lost_also_when_the_next_holder_let_go_of_it) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto slow = *store->try_lease(sample_key(0), 1);
  auto unseen = *store->try_lease(sample_key(1), 1);
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(free_to_take(*store, 0));  // and is let go of
  const auto renewed = slow->renew();
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().code, ErrorCode::not_found);
  EXPECT_TRUE(unseen->renew()) << "nobody came in between";
}

TEST(LeaseTest, of_another_boot_the_wall_clock_counts_with_a_minute_of_doubt) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto lease = *store->try_lease(sample_key(0), 1);
  const std::string file = directory.file("normd.db");
  const std::string other_boot = "UPDATE lease SET boot_id = 'another', expires_boot_ms = ";
  run_sql(file, other_boot + "0, expires_unix_ms = unixepoch() * 1000 - 30000");
  EXPECT_FALSE(free_to_take(*store, 0));
  run_sql(file, other_boot + "1e15, expires_unix_ms = unixepoch() * 1000 - 62000");
  EXPECT_TRUE(free_to_take(*store, 0));
}

TEST(LeaseTest, a_lease_may_outlive_its_store) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  auto lease = *store->try_lease(sample_key(0), 10'000);
  store.reset();
  EXPECT_EQ(lease->renew().error().code, ErrorCode::unavailable);
}

TEST(LeaseTest, a_reader_takes_no_lease) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  auto store = open_store(directory.path(), Store::Mode::read_only);
  EXPECT_EQ(store->try_lease(sample_key(0), 10).error().code, ErrorCode::failed_precondition);
}

}  // namespace
}  // namespace normd
