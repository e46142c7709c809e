#include "tuner/tuning_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

namespace normd {
namespace {

using namespace std::chrono_literals;

// A tuner that waits to be let go, and remembers what it was asked.
class Gatekeeper {
 public:
  TuningQueue::TuneFunction function() {
    return
        [this](const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
               std::stop_token stop) -> Result<Tuning> {
          std::unique_lock lock(mutex_);
          tuned_.push_back(request.problem.columns);
          progress(TuneProgress{.stage = TuneStage::compiling});
          changed_.notify_all();
          if (!changed_.wait(lock, stop, [&] { return open_; }))
            return fail(ErrorCode::unavailable, "stopped");
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
  void wait_until_busy() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 5s, [&] { return !tuned_.empty(); }));
  }
  std::vector<std::int64_t> tuned() {
    const std::lock_guard lock(mutex_);
    return tuned_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
  std::vector<std::int64_t> tuned_;
};

TuneRequest request_of(std::int64_t columns) {
  return TuneRequest{.problem = {.rows = 1, .columns = columns}};
}

TEST(tuning_queue, a_hundred_clients_asking_for_one_key_cause_one_tuning) {
  Gatekeeper tuner;
  TuningQueue queue(tuner.function(), 10);
  std::latch answered(100);
  std::atomic<int> started = 0, right = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&, i] {
      const auto ticket =
          queue.submit("key", request_of(7), std::to_string(i),
                       {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                          right += tuning && tuning->elapsed_ms == 7;
                          answered.count_down();
                        }});
      ASSERT_TRUE(ticket);
      started += ticket->joined == Joined::started;
    });
  }
  clients.clear();
  tuner.open();
  answered.wait();
  EXPECT_EQ(started, 1);
  EXPECT_EQ(right, 100);
  EXPECT_EQ(tuner.tuned().size(), 1u);
}

TEST(tuning_queue, a_removed_waiter_is_not_called_and_the_tuning_goes_on) {
  Gatekeeper tuner;
  TuningQueue queue(tuner.function(), 10);
  std::promise<void> other;
  bool called = false;
  const auto gone = queue.submit("key", request_of(1), "a",
                                 {.progress = {}, .finished = [&](const auto&) { called = true; }});
  ASSERT_TRUE(queue.submit("key", request_of(1), "b",
                           {.progress = {}, .finished = [&](const auto&) { other.set_value(); }}));
  tuner.wait_until_busy();
  queue.remove(gone->waiter);
  tuner.open();
  ASSERT_EQ(other.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_FALSE(called);
}

TEST(tuning_queue, a_full_queue_refuses_new_keys_but_lets_callers_join_old_ones) {
  Gatekeeper tuner;
  TuningQueue queue(tuner.function(), 2);
  ASSERT_TRUE(queue.submit("running", request_of(1), "a", {}));
  tuner.wait_until_busy();
  ASSERT_TRUE(queue.submit("one", request_of(2), "a", {}));
  ASSERT_TRUE(queue.submit("two", request_of(3), "a", {}));
  const auto refused = queue.submit("three", request_of(4), "a", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(queue.submit("two", request_of(3), "b", {}));
  EXPECT_EQ(queue.depth().queued, 2);
  EXPECT_EQ(queue.depth().waiters, 4);
  tuner.open();
}

TEST(tuning_queue, a_client_with_one_key_is_not_kept_behind_one_with_many) {
  Gatekeeper tuner;
  std::promise<void> all;
  {
    TuningQueue queue(tuner.function(), 100);
    ASSERT_TRUE(queue.submit("0", request_of(100), "many", {}));
    tuner.wait_until_busy();
    for (int i = 1; i < 20; ++i)
      ASSERT_TRUE(queue.submit(std::to_string(i), request_of(100 + i), "many", {}));
    ASSERT_TRUE(queue.submit("single", request_of(1), "few",
                             {.progress = {}, .finished = [&](const auto&) { all.set_value(); }}));
    tuner.open();
    ASSERT_EQ(all.get_future().wait_for(5s), std::future_status::ready);
  }
  EXPECT_EQ(tuner.tuned()[1], 1);
}

TEST(tuning_queue, stopping_answers_everyone_as_unavailable) {
  Gatekeeper tuner;
  std::atomic<int> unavailable = 0;
  const auto count = [&](const Result<Tuning>& tuning) {
    unavailable += !tuning && tuning.error().code == ErrorCode::unavailable;
  };
  {
    TuningQueue queue(tuner.function(), 10);
    ASSERT_TRUE(queue.submit("a", request_of(1), "c", {.progress = {}, .finished = count}));
    tuner.wait_until_busy();
    ASSERT_TRUE(queue.submit("b", request_of(2), "c", {.progress = {}, .finished = count}));
  }
  EXPECT_EQ(unavailable, 2);
}

TEST(tuning_queue, a_failed_tuning_reaches_its_waiters_and_the_next_one_runs) {
  int calls = 0;
  TuningQueue queue(
      [&](const TuneRequest&, const auto&, std::stop_token) -> Result<Tuning> {
        if (++calls == 1) return fail(ErrorCode::failed_precondition, "no compiler");
        return Tuning{};
      },
      10);
  std::promise<std::string> first;
  ASSERT_TRUE(queue.submit("a", request_of(1), "c",
                           {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                              first.set_value(tuning ? "" : tuning.error().message);
                            }}));
  EXPECT_EQ(first.get_future().get(), "no compiler");
  std::promise<bool> second;
  ASSERT_TRUE(queue.submit("a", request_of(1), "c",
                           {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                              second.set_value(tuning.has_value());
                            }}));
  EXPECT_TRUE(second.get_future().get());
}

// Columns 500 are tuned by another process until `elsewhere` is false.
class OneElsewhere {
 public:
  TuningQueue::TuneFunction function() {
    return [this](const TuneRequest& request, const auto&,
                  std::stop_token) -> Result<std::optional<Tuning>> {
      if (request.problem.columns != 500) return Tuning{.elapsed_ms = request.problem.columns};
      ++looks;
      was_elsewhere = request.was_elsewhere;
      if (elsewhere) return std::nullopt;
      return Tuning{.from_store = true};
    };
  }
  std::atomic<bool> elsewhere = true;
  std::atomic<bool> was_elsewhere = false;
  std::atomic<int> looks = 0;
};

TEST(tuning_queue, a_key_that_another_process_tunes_holds_up_no_other) {
  OneElsewhere tuner;
  TuningQueue queue(tuner.function(), 10);
  std::promise<bool> from_store;
  auto other_result = from_store.get_future();
  ASSERT_TRUE(queue.submit("500", request_of(500), "c",
                           {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                              from_store.set_value(tuning && tuning->from_store);
                            }}));
  for (const std::int64_t columns : {501, 502}) {
    std::promise<std::int64_t> tuned;
    ASSERT_TRUE(queue.submit(std::to_string(columns), request_of(columns), "c",
                             {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                                tuned.set_value(tuning ? tuning->elapsed_ms : -1);
                              }}));
    auto result = tuned.get_future();
    ASSERT_EQ(result.wait_for(5s), std::future_status::ready) << columns;
    EXPECT_EQ(result.get(), columns);
  }
  EXPECT_EQ(queue.submit("500", request_of(500), "d", {})->joined, Joined::joined);
  EXPECT_EQ(other_result.wait_for(0s), std::future_status::timeout);
  tuner.elsewhere = false;
  ASSERT_EQ(other_result.wait_for(5s), std::future_status::ready);
  EXPECT_TRUE(other_result.get());
  EXPECT_TRUE(tuner.was_elsewhere);
  EXPECT_EQ(queue.depth().queued + queue.depth().running, 0);
}

TEST(tuning_queue, a_key_that_another_process_tunes_is_looked_at_now_and_then_and_can_be_left) {
  OneElsewhere tuner;
  TuningQueue queue(tuner.function(), 10);
  const auto ticket = queue.submit("500", request_of(500), "c", {});
  std::this_thread::sleep_for(600ms);
  EXPECT_GE(tuner.looks, 2);
  EXPECT_LE(tuner.looks, 4);
  queue.remove(ticket->waiter);
  EXPECT_EQ(queue.depth().waiters, 0);
}

TEST(tuning_queue, stopping_answers_a_key_that_another_process_tunes) {
  OneElsewhere tuner;
  std::promise<ErrorCode> code;
  {
    TuningQueue queue(tuner.function(), 10);
    ASSERT_TRUE(queue.submit("500", request_of(500), "c",
                             {.progress = {}, .finished = [&](const Result<Tuning>& tuning) {
                                code.set_value(tuning.error().code);
                              }}));
    while (tuner.looks == 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(code.get_future().get(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace normd
