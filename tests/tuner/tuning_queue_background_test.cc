// What the tuning queue does in the background: tunings that no client asked for, and other work.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/tuning_queue.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view behind = TuningQueue::background;

TuneRequest request_of(std::int64_t columns) {
  return TuneRequest{.problem = {.rows = 1, .columns = columns}};
}

// Tunings that last until they are stopped, or until `open` lets all of them end.
class Tunings {
 public:
  TuningQueue::TuneFunction function() {
    return [this](const TuneRequest& request, const auto&,
                  std::stop_token stop) -> Result<std::optional<Tuning>> {
      std::unique_lock lock(mutex_);
      begun_.push_back(request.problem.columns);
      changed_.notify_all();
      if (!changed_.wait(lock, stop, [&] { return open_; })) {
        return fail(ErrorCode::unavailable, "stopped");
      }
      return Tuning{.elapsed_ms = request.problem.columns};
    };
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  // In the order in which they were begun, once there are so many.
  std::vector<std::int64_t> begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 5s, [&] { return begun_.size() >= count; }));
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
  std::vector<std::int64_t> begun_;
};

struct Ended {
  std::promise<bool> good;
  std::future<bool> future = good.get_future();
  Waiter waiter() {
    return {.progress = {},
            .finished = [this](const Result<Tuning>& tuning) { good.set_value(!!tuning); }};
  }
  bool well() { return future.wait_for(5s) == std::future_status::ready && future.get(); }
};

TEST(tuning_queue_background, clients_are_served_before_it_whoever_came_first) {
  Tunings tunings;
  TuningQueue queue(tunings.function(), 10);
  Ended background;
  ASSERT_TRUE(queue.submit("0", request_of(100), "a", {}));
  tunings.begun(1);
  ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), background.waiter()));
  for (const int i : {101, 102, 103}) {
    ASSERT_TRUE(queue.submit(std::to_string(i), request_of(i), "a", {}));
  }
  EXPECT_EQ(queue.depth().queued, 4);
  EXPECT_EQ(queue.depth().in_background, 1);
  tunings.open();
  EXPECT_TRUE(background.well());
  EXPECT_EQ(tunings.begun(5), (std::vector<std::int64_t>{100, 101, 102, 103, 1}));
}

TEST(tuning_queue_background, one_that_runs_makes_way_for_a_client_and_is_begun_anew) {
  Tunings tunings;
  TuningQueue queue(tunings.function(), 10);
  Ended background, client;
  ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), background.waiter()));
  tunings.begun(1);
  ASSERT_TRUE(queue.submit("2", request_of(2), "a", client.waiter()));
  EXPECT_EQ(tunings.begun(2), (std::vector<std::int64_t>{1, 2})) << "without being let go";
  EXPECT_EQ(background.future.wait_for(0s), std::future_status::timeout) << "not given up";
  tunings.open();
  EXPECT_TRUE(client.well());
  EXPECT_TRUE(background.well());
  EXPECT_EQ(tunings.begun(3), (std::vector<std::int64_t>{1, 2, 1}));
}

TEST(tuning_queue_background, one_that_a_client_joins_makes_way_no_more) {
  Tunings tunings;
  TuningQueue queue(tunings.function(), 10);
  Ended background, joined, other;
  ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), background.waiter()));
  tunings.begun(1);
  EXPECT_EQ(queue.submit("1", request_of(1), "a", joined.waiter())->joined, Joined::joined);
  ASSERT_TRUE(queue.submit("2", request_of(2), "b", other.waiter()));
  std::this_thread::sleep_for(50ms);
  tunings.open();
  EXPECT_TRUE(joined.well() && background.well() && other.well());
  EXPECT_EQ(tunings.begun(2), (std::vector<std::int64_t>{1, 2}));
}

TEST(tuning_queue_background, who_joins_one_that_is_put_back_is_not_ahead_of_others) {
  Tunings tunings;
  bool elsewhere = true;  // on the queue's thread: another process has the first one
  TuningQueue queue(
      [&, tune = tunings.function()](const TuneRequest& request, const auto& progress,
                                     std::stop_token stop) -> Result<std::optional<Tuning>> {
        auto tuning = tune(request, progress, std::move(stop));
        if (std::exchange(elsewhere, false)) return std::nullopt;
        return tuning;
      },
      10);
  Ended joined;
  ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), {}));
  tunings.begun(1);
  EXPECT_EQ(queue.submit("1", request_of(1), "a", joined.waiter())->joined, Joined::joined);
  ASSERT_TRUE(queue.submit("2", request_of(2), "b", {}));
  ASSERT_TRUE(queue.submit("3", request_of(3), "a", {}));
  tunings.open();
  EXPECT_TRUE(joined.well());
  EXPECT_EQ(tunings.begun(4), (std::vector<std::int64_t>{1, 2, 3, 1}));
}

TEST(tuning_queue_background, it_takes_no_client_the_room) {
  Tunings tunings;
  TuningQueue queue(tunings.function(), 2);
  ASSERT_TRUE(queue.submit("0", request_of(1), "a", {}));
  tunings.begun(1);
  ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), {}));
  ASSERT_TRUE(queue.submit("2", request_of(2), std::string(behind), {}));
  EXPECT_EQ(queue.submit("3", request_of(3), std::string(behind), {}).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_TRUE(queue.submit("4", request_of(4), "a", {}));
  EXPECT_TRUE(queue.submit("5", request_of(5), "a", {}));
  EXPECT_FALSE(queue.submit("6", request_of(6), "a", {}));
}

TEST(tuning_queue_background, stopping_ends_it_and_answers_its_waiter) {
  Tunings tunings;
  Ended background;
  {
    TuningQueue queue(tunings.function(), 10);
    ASSERT_TRUE(queue.submit("1", request_of(1), std::string(behind), background.waiter()));
    tunings.begun(1);
  }
  ASSERT_EQ(background.future.wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(background.future.get());
}

// Work that lasts until it is stopped.
struct IdleWork {
  std::promise<void> begun, ended;
  TuningQueue::Work work() {
    return [this](std::stop_token stop) {
      begun.set_value();
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
      ended.set_value();
    };
  }
};

TEST(tuning_queue_background, other_work_runs_when_idle_and_is_stopped_by_any_tuning) {
  for (const std::string_view client : {std::string_view("a"), behind}) {
    Tunings tunings;
    tunings.open();
    TuningQueue queue(tunings.function(), 10);
    IdleWork idle;
    Ended tuning;
    ASSERT_TRUE(queue.run_if_idle(idle.work()));
    ASSERT_EQ(idle.begun.get_future().wait_for(5s), std::future_status::ready);
    EXPECT_FALSE(queue.run_if_idle([](std::stop_token) {})) << "one at a time";
    ASSERT_TRUE(queue.submit("1", request_of(1), std::string(client), tuning.waiter()));
    ASSERT_EQ(idle.ended.get_future().wait_for(5s), std::future_status::ready) << client;
    EXPECT_TRUE(tuning.well());
  }
}

TEST(tuning_queue_background, other_work_is_not_taken_beside_a_tuning) {
  Tunings tunings;
  TuningQueue queue(tunings.function(), 10);
  ASSERT_TRUE(queue.submit("1", request_of(1), "a", {}));
  EXPECT_FALSE(queue.run_if_idle([](std::stop_token) {}));
}

TEST(tuning_queue_background, stopping_ends_other_work) {
  IdleWork idle;
  Tunings tunings;
  {
    TuningQueue queue(tunings.function(), 10);
    ASSERT_TRUE(queue.run_if_idle(idle.work()));
    idle.begun.get_future().wait();
  }
  EXPECT_EQ(idle.ended.get_future().wait_for(0s), std::future_status::ready);
}

}  // namespace
}  // namespace normd
