#include "tuner/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace normd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(GuardedTest, no_two_threads_are_inside_at_once) {
  Guarded<int> count(0);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20'000; ++i) ++*count.lock();
      });
    }
  }
  EXPECT_EQ(*count.lock(), 80'000);
}

TEST(GuardedTest, waiting_lets_others_in_and_ends_when_it_is_ready) {
  Guarded<bool> ready(false);
  std::condition_variable_any changed;
  const std::jthread other([&] {
    *ready.lock() = true;
    changed.notify_all();
  });
  auto access = ready.lock();
  access.wait(changed, [&] { return *access; });
  EXPECT_TRUE(*access);
}

TEST(GuardedTest, a_stop_ends_the_wait) {
  Guarded<bool> never(false);
  std::condition_variable_any changed;
  std::stop_source stop;
  const std::jthread other([&] { stop.request_stop(); });
  auto access = never.lock();
  EXPECT_FALSE(access.wait(changed, stop.get_token(), [&] { return *access; }));
}

TEST(GuardedTest, only_a_free_one_is_taken_without_waiting) {
  Guarded<int> number(1);
  const auto try_elsewhere = [&] {
    bool taken = false;
    std::jthread([&] { taken = number.try_lock().has_value(); }).join();
    return taken;
  };
  {
    const auto access = number.try_lock();
    ASSERT_TRUE(access);
    EXPECT_EQ(**access, 1);
    EXPECT_FALSE(try_elsewhere());
  }
  EXPECT_TRUE(try_elsewhere());
}

TEST(GuardedTest, a_deadline_ends_the_wait) {
  Guarded<bool> never(false);
  std::condition_variable_any changed;
  auto access = never.lock();
  const auto deadline = steady_clock::now() + milliseconds(20);
  EXPECT_FALSE(access.wait_until(changed, std::stop_token(), deadline, [&] { return *access; }));
  EXPECT_GE(steady_clock::now(), deadline);
}

}  // namespace
}  // namespace normd
