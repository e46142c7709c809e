#include "service/daemon/drift_schedule.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

using namespace std::chrono_literals;
using Finding = DriftSchedule::Finding;

constexpr DriftSchedule::Moment start{std::chrono::hours(10)};

KernelCache::Loaded loaded(std::int64_t columns, std::int64_t uses) {
  const DeviceSpec spec = host_device_spec();
  const Problem problem{.rows = 4, .columns = columns};
  return {.key = make_key(problem, spec, make_fingerprint(spec), BucketMode::bucketed),
          .candidate = "",
          .binary_digest = "",
          .uses = uses};
}

std::string key_of(std::int64_t columns) {
  return to_text(loaded(columns, 0).key);
}

std::int64_t columns_of(const std::optional<KernelCache::Loaded>& next) {
  return next ? next->key.problem.columns : 0;
}

const Drift slower{.rows = 4, .cache = CacheState::warm, .before = 1, .now = 1.2};

TEST(DriftSchedule, a_check_is_due_after_a_time_without_activity) {
  DriftSchedule schedule(60s);
  EXPECT_FALSE(schedule.is_due(start, 5));
  EXPECT_FALSE(schedule.is_due(start + 59s, 5));
  EXPECT_TRUE(schedule.is_due(start + 60s, 5));
  EXPECT_FALSE(schedule.is_due(start + 61s, 6)) << "a request came";
  EXPECT_FALSE(schedule.is_due(start + 120s, 6));
  EXPECT_TRUE(schedule.is_due(start + 121s, 6));
}

TEST(DriftSchedule, there_is_one_in_each_such_time) {
  DriftSchedule schedule(60s);
  EXPECT_FALSE(schedule.is_due(start, 0));
  ASSERT_TRUE(schedule.is_due(start + 60s, 0));
  EXPECT_TRUE(schedule.next(start + 60s, {loaded(1, 1)}));
  EXPECT_FALSE(schedule.is_due(start + 119s, 0));
  ASSERT_TRUE(schedule.is_due(start + 120s, 0));
  EXPECT_FALSE(schedule.next(start + 120s, {}));
  EXPECT_FALSE(schedule.is_due(start + 179s, 0)) << "also if there was nothing to check";
}

TEST(DriftSchedule, the_most_used_comes_first_then_the_next_and_one_without_use_never) {
  DriftSchedule schedule(60s);
  const std::vector<KernelCache::Loaded> all = {loaded(1, 3), loaded(2, 9), loaded(3, 0)};
  EXPECT_EQ(columns_of(schedule.next(start, all)), 2);
  EXPECT_EQ(columns_of(schedule.next(start + 1min, all)), 1);
  EXPECT_FALSE(schedule.next(start + 2min, all));
}

TEST(DriftSchedule, the_same_winner_is_checked_once_an_hour_of_minutes) {
  DriftSchedule schedule(60s);
  ASSERT_TRUE(schedule.next(start, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {}), Finding::nothing);
  EXPECT_FALSE(schedule.next(start + 59min, {loaded(1, 3)}));
  EXPECT_TRUE(schedule.next(start + 60min, {loaded(1, 3)}));
}

TEST(DriftSchedule, a_suspected_one_is_looked_at_sooner_and_confirmed_by_the_second_check) {
  DriftSchedule schedule(60s);
  ASSERT_TRUE(schedule.next(start, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::suspected);
  EXPECT_FALSE(schedule.next(start + 4min, {loaded(1, 3)}));
  ASSERT_TRUE(schedule.next(start + 5min, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::confirmed);
  EXPECT_FALSE(schedule.next(start + 11min, {loaded(1, 3)})) << "an hour again";
}

TEST(DriftSchedule, each_winner_is_suspected_by_itself) {
  DriftSchedule schedule(60s);
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::suspected);
  EXPECT_EQ(schedule.judge(key_of(2), {slower}), Finding::suspected);
  EXPECT_EQ(schedule.judge(key_of(1), {}), Finding::nothing);
  EXPECT_EQ(schedule.judge(key_of(2), {slower}), Finding::confirmed);
}

TEST(DriftSchedule, one_that_was_put_off_may_come_at_once_and_stays_suspected) {
  DriftSchedule schedule(60s);
  ASSERT_TRUE(schedule.next(start, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::suspected);
  ASSERT_TRUE(schedule.next(start + 5min, {loaded(1, 3)}));
  schedule.put_off(key_of(1));
  ASSERT_TRUE(schedule.next(start + 6min, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::confirmed);
}

TEST(DriftSchedule, a_suspicion_of_long_ago_counts_no_more) {
  DriftSchedule schedule(60s);
  ASSERT_TRUE(schedule.next(start, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::suspected);
  ASSERT_TRUE(schedule.next(start + 2h, {loaded(1, 3)}));
  EXPECT_EQ(schedule.judge(key_of(1), {slower}), Finding::suspected);
}

}  // namespace
}  // namespace normd
