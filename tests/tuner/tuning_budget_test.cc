#include "tuner/tuning_budget.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

using namespace std::chrono_literals;

const TuningBudget::Moment begun{100s};

TEST(tuning_budget, exploring_leaves_a_fifth_for_the_race) {
  const TuningBudget budget(10s, begun);
  EXPECT_EQ(budget.exploring_end(), begun + 8s);
  EXPECT_EQ(budget.race_end(begun + 8s), begun + 10s);
}

TEST(tuning_budget, without_a_passed_candidate_there_is_one_budget_more) {
  TuningBudget budget(10s, begun);
  EXPECT_EQ(budget.search_end(), begun + 20s);
  budget.first_binary_at(begun + 1s);
  EXPECT_EQ(budget.search_end(), begun + 20s);
}

TEST(tuning_budget, the_least_budget_suffices_for_a_compiler_and_a_few_trials) {
  TuningBudget budget(300ms, begun);
  EXPECT_EQ(budget.search_end(), begun + 10s);
  budget.first_binary_at(begun + 1s);
  EXPECT_EQ(budget.search_end(), begun + 5s);
}

TEST(tuning_budget, a_race_that_begins_late_has_a_tenth) {
  EXPECT_EQ(TuningBudget(10s, begun).race_end(begun + 15s), begun + 16s);
}

TEST(tuning_budget, a_trial_beside_one_that_passed_ends_with_the_exploration) {
  const TuningBudget budget(10s, begun);
  const auto limit = budget.trial_limit(begun + 7s, true, 8s);
  EXPECT_EQ(limit.time, 1s);
  EXPECT_TRUE(limit.by_budget);
  EXPECT_EQ(budget.trial_limit(begun + 7999ms, true, 8s).time, 250ms);  // about to be done
}

TEST(tuning_budget, a_trial_has_no_more_than_what_makes_it_hung) {
  const auto limit = TuningBudget(100s, begun).trial_limit(begun, true, 8s);
  EXPECT_EQ(limit.time, 8s);
  EXPECT_FALSE(limit.by_budget);
}

TEST(tuning_budget, while_none_has_passed_a_trial_leaves_half_of_the_time_to_the_others) {
  TuningBudget budget(5s, begun);
  budget.first_binary_at(begun);
  EXPECT_EQ(budget.trial_limit(begun, false, 10s).time, 5s);
  EXPECT_EQ(budget.trial_limit(begun + 5s, false, 10s).time, 2500ms);
  EXPECT_EQ(budget.trial_limit(begun + 7s, false, 10s).time, 2s);
  EXPECT_EQ(budget.trial_limit(begun + 9s, false, 10s).time, 1s);
}

TEST(tuning_budget, patience_grows_with_the_copy_and_never_beyond_its_limit) {
  EXPECT_EQ(trial_patience(DeviceKind::cuda, 50e3), 1050ms);
  EXPECT_EQ(trial_patience(DeviceKind::cuda, 5e6), 6s);
  EXPECT_EQ(trial_patience(DeviceKind::cuda, 1e9), 10s);
  EXPECT_EQ(trial_patience(DeviceKind::host, 50e3), 10s);
}

}  // namespace
}  // namespace normd
