#include "tuner/store/turn.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

TEST(TurnTest, one_has_it_at_a_time) {
  const StoreDirectory directory;
  auto one = StoreTurn::open(directory.file("turn"));
  auto other = StoreTurn::open(directory.file("turn"));
  {
    const auto held = one->take(milliseconds(0));
    ASSERT_TRUE(held);
    EXPECT_EQ(other->take(milliseconds(20)).error().code, ErrorCode::unavailable);
  }
  EXPECT_TRUE(other->take(milliseconds(0)));
}

TEST(TurnTest, who_waits_gets_it_soon_after_it_is_let_go) {
  const StoreDirectory directory;
  auto one = StoreTurn::open(directory.file("turn"));
  auto other = StoreTurn::open(directory.file("turn"));
  auto held = std::make_unique<Result<StoreTurn::Held>>(one->take(milliseconds(0)));
  const std::jthread letting_go([&] {
    std::this_thread::sleep_for(milliseconds(100));
    held.reset();
  });
  EXPECT_TRUE(other->take(milliseconds(5000)));
}

TEST(TurnTest, a_lock_file_that_was_removed_is_no_longer_the_turn) {
  const StoreDirectory directory;
  auto one = StoreTurn::open(directory.file("turn"));
  const auto orphan = one->take(milliseconds(0));
  std::filesystem::remove(directory.file("turn"));
  auto other = StoreTurn::open(directory.file("turn"));
  const auto held = other->take(milliseconds(0));
  ASSERT_TRUE(held) << "it is another file";
  auto third = StoreTurn::open(directory.file("turn"));
  EXPECT_FALSE(third->take(milliseconds(0)));
}

TEST(TurnTest, a_turn_that_lost_its_file_takes_the_new_one) {
  const StoreDirectory directory;
  auto one = StoreTurn::open(directory.file("turn"));
  std::filesystem::remove(directory.file("turn"));
  auto other = StoreTurn::open(directory.file("turn"));
  const auto held = one->take(milliseconds(0));
  ASSERT_TRUE(held);
  EXPECT_FALSE(other->take(milliseconds(0)));
}

TEST(TurnTest, a_place_where_no_lock_file_can_be_made_says_so) {
  const auto turn = StoreTurn::open("/proc/turn");
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(turn.error().message.find("/proc/turn"), std::string::npos);
}

}  // namespace
}  // namespace normd
