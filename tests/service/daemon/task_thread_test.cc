#include "service/daemon/task_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "service/daemon/admission.h"
#include "service/daemon/cancellation.h"

namespace normd {
namespace {

TEST(TaskThread, tasks_run_in_order_and_all_of_them_before_the_end) {
  std::vector<int> order;
  {
    TaskThread thread(100);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(thread.post([&order, i] { order.push_back(i); }));
  }
  ASSERT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(TaskThread, beyond_its_bound_it_refuses) {
  std::promise<void> go;
  TaskThread thread(1);
  std::promise<void> begun;
  ASSERT_TRUE(thread.post([&] { begun.set_value(), go.get_future().wait(); }));
  begun.get_future().wait();
  EXPECT_TRUE(thread.post([] {}));
  EXPECT_FALSE(thread.post([] {}));
  go.set_value();
}

TEST(TaskThread, the_idle_task_runs_beside_the_others) {
  std::atomic<int> idle = 0;
  TaskThread thread(
      10, [&] { ++idle; }, std::chrono::milliseconds(1));
  while (idle < 3) std::this_thread::yield();
}

TEST(Cancellation, leaving_runs_once_whichever_comes_first) {
  int left = 0;
  Cancellation before;
  before.cancel();
  before.on_cancel([&] { ++left; });
  EXPECT_EQ(left, 1);
  Cancellation after;
  after.on_cancel([&] { ++left; });
  after.cancel();
  after.cancel();
  EXPECT_EQ(left, 2);
}

TEST(Admission, a_share_comes_back_when_its_hold_goes) {
  Admission admission({.in_flight_bytes_max = 100, .waiting_calls_max = 1});
  {
    const auto first = admission.admit_bytes(60);
    ASSERT_TRUE(first);
    const auto second = admission.admit_bytes(60);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::resource_exhausted);
    EXPECT_EQ(second.error().field, "in_flight_bytes_max");
    EXPECT_TRUE(admission.admit_bytes(40));
  }
  EXPECT_EQ(admission.in_flight_bytes(), 0);
  EXPECT_TRUE(admission.admit_bytes(100));
}

}  // namespace
}  // namespace normd
