#include "tuner/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace normd {
namespace {

bool contains(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Made-up devices: the true time of each number, with whatever noise the test wants.
class MadeUp {
 public:
  explicit MadeUp(std::map<int, double> true_ns) : true_ns_(std::move(true_ns)) {}

  Result<Race::Sampled> sample(const std::vector<int>& numbers, std::size_t edge) {
    ++calls;
    if (calls == spoilt_call) return Race::Sampled{};
    if (blame_from > 0 && calls >= blame_from && contains(numbers, to_blame)) {
      return Race::Sampled{.ns = {}, .to_blame = to_blame};
    }
    orders.push_back(numbers);
    drift_ += drift_per_call;
    std::vector<double> ns;
    const bool disturbed = disturb_every > 0 && calls % disturb_every == 0;
    for (const int number : numbers) {
      double value = true_ns_.at(number) * (edge == 0 ? 1.0 : 2.0) * (1 + drift_);
      value *= 1 + noise * normal_(random_);
      if (outliers && random_() % 17 == 0) value *= 5;
      ns.push_back(disturbed ? value * 3 : value);
      asked.insert(number);
    }
    return Race::Sampled{.ns = ns, .to_blame = {}};
  }

  Race::Sample function() {
    return
        [this](const std::vector<int>& numbers, std::size_t edge) { return sample(numbers, edge); };
  }

  double noise = 0.003;
  double drift_per_call = 0;
  bool outliers = false;
  int disturb_every = 0;
  int spoilt_call = 0;
  int blame_from = 0;
  int to_blame = 0;
  int calls = 0;
  std::vector<std::vector<int>> orders;
  std::set<int> asked;

 private:
  std::map<int, double> true_ns_;
  double drift_ = 0;
  std::mt19937 random_{42};
  std::normal_distribution<double> normal_{0.0, 1.0};
};

bool never() {
  return false;
}

TEST(race, every_candidate_and_the_control_are_sampled_at_each_edge) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 101}});
  Race race({}, 2, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.intervals(0).size(), 2u);
  EXPECT_NEAR(race.intervals(0)[1].median, 200, 2);
  EXPECT_NEAR(race.intervals(control_copy)[0].median, 90, 1);
}

TEST(race, the_order_is_reversed_from_round_to_round_and_the_control_comes_first) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 100}, {2, 100}});
  Race race({}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1, 2}, 0, never));
  EXPECT_EQ(made.orders[0], (std::vector<int>{control_copy, 0, 1, 2}));
  EXPECT_EQ(made.orders[1], (std::vector<int>{control_copy, 2, 1, 0}));
}

TEST(race, clock_drift_hits_all_alike) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 103}});
  made.drift_per_call = 0.004;
  Race race({.noisy = 0}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  const double ratio = race.intervals(1)[0].median / race.intervals(0)[0].median;
  EXPECT_NEAR(ratio, 1.03, 0.005);
}

TEST(race, a_hopeless_candidate_leaves_but_the_default_stays) {
  MadeUp made({{control_copy, 90}, {0, 150}, {1, 100}, {2, 140}});
  made.noise = 0.02;
  Race race({.narrow = 0.001, .noisy = 0}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1, 2}, 0, never));
  EXPECT_LT(race.intervals(2)[0].samples, race.intervals(1)[0].samples);
  EXPECT_EQ(race.intervals(0)[0].samples, race.intervals(1)[0].samples);
}

TEST(race, it_ends_early_when_all_intervals_are_narrow) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 101}});
  made.noise = 0.0001;
  const RaceRules rules;
  Race race(rules, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds(), rules.rounds_min);
}

TEST(race, out_of_time_ends_it_after_the_round_under_way) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 101}});
  made.noise = 0.05;
  Race race({.noisy = 0}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, [&] { return made.calls == 3; }));
  EXPECT_EQ(race.rounds(), 3);
}

TEST(race, a_spoilt_round_costs_only_itself) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 103}});
  made.spoilt_call = 4;  // the second edge of the second round
  Race race({}, 2, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_GE(race.rounds(), RaceRules().rounds_min);
  EXPECT_EQ(made.calls, 2 * race.rounds() + 2);
  EXPECT_EQ(race.intervals(1)[0].samples, race.rounds());
  EXPECT_EQ(race.intervals(1)[1].samples, race.rounds());
}

TEST(race, whoever_spoils_a_round_leaves_and_the_others_go_on) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 101}, {2, 99}});
  made.blame_from = 4;
  made.to_blame = 2;
  Race race({}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1, 2}, 0, never));
  EXPECT_EQ(race.intervals(2)[0].samples, 3);
  EXPECT_GE(race.intervals(1)[0].samples, RaceRules().rounds_min);
  EXPECT_FALSE(contains(made.orders.back(), 2));
}

TEST(race, it_is_over_when_the_one_that_stays_is_to_blame) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 101}});
  made.blame_from = 3;
  made.to_blame = 0;
  Race race({}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(made.calls, 3);
}

TEST(race, a_race_that_cannot_be_sampled_ends_with_an_error) {
  Race race({}, 1,
            [](const auto&, std::size_t) -> Result<Race::Sampled> { return Race::Sampled{}; });
  const auto ran = race.run({0, 1}, 0, never);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::internal);
}

TEST(race, a_disturbed_round_is_thrown_away_and_counted) {
  MadeUp made({{control_copy, 90}, {0, 100}, {1, 103}});
  made.disturb_every = 5;
  Race race({.narrow = 0}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_GT(race.rounds_discarded(), 3);
  EXPECT_NEAR(race.intervals(0)[0].high, 100, 2);
}

TEST(race, the_first_rounds_count_since_nobody_knows_yet_what_is_slow) {
  int call = 0;
  Race race({}, 1, [&](const std::vector<int>& numbers, std::size_t) -> Result<Race::Sampled> {
    const double factor = ++call == 1 ? 0.5 : 1;
    return Race::Sampled{.ns = std::vector<double>(numbers.size(), 100 * factor), .to_blame = {}};
  });
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds_discarded(), 0);
}

TEST(race, a_device_that_is_busy_most_of_the_time_is_reported) {
  int call = 0;
  Race race({}, 1, [&](const std::vector<int>& numbers, std::size_t) -> Result<Race::Sampled> {
    const double factor = ++call <= 4 ? 1 : 4;  // quiet at first, then somebody else comes
    return Race::Sampled{.ns = std::vector<double>(numbers.size(), 100 * factor), .to_blame = {}};
  });
  const auto ran = race.run({0, 1}, 0, never);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::unavailable);
  EXPECT_NE(ran.error().message.find("busy"), std::string::npos);
}

TEST(race, outliers_do_not_change_who_is_faster) {
  MadeUp made({{control_copy, 90}, {0, 103}, {1, 100}});
  made.outliers = true;
  Race race({.narrow = 0, .noisy = 0}, 1, made.function());
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_LT(race.intervals(1)[0].median, race.intervals(0)[0].median * 0.985);
}

TEST(race, a_failed_sample_is_handed_on) {
  Race race({}, 1, [](const std::vector<int>&, std::size_t) -> Result<Race::Sampled> {
    return fail(ErrorCode::unavailable, "the worker died");
  });
  const auto ran = race.run({0}, 0, never);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "the worker died");
}

}  // namespace
}  // namespace normd
