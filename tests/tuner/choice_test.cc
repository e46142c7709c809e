#include "tuner/choice.h"

#include <gtest/gtest.h>

#include <random>

namespace normd {
namespace {

Interval around(double median, double half_width = 0.2) {
  return {.median = median, .low = median - half_width, .high = median + half_width, .samples = 20};
}

Contender contender(int number, std::vector<Interval> edges, int registers = 32, int block = 256) {
  return {.number = number,
          .edges = std::move(edges),
          .registers = registers,
          .block = block,
          .text = "t a=" + std::to_string(number)};
}

// At which all edges decide.
Choice choose(const std::vector<Contender>& contenders, int default_number) {
  return choose(contenders, default_number,
                std::vector<bool>(contenders.front().edges.size(), true));
}

TEST(choice, a_three_percent_better_candidate_wins) {
  const Choice choice = choose({contender(0, {around(100)}), contender(1, {around(97)})}, 0);
  EXPECT_EQ(choice.winner, 1);
  EXPECT_TRUE(choice.ties.empty());
}

TEST(choice, a_gain_within_the_margin_leaves_the_default) {
  const Choice choice =
      choose({contender(0, {around(100, 0.05)}), contender(1, {around(99.7, 0.05)})}, 0);
  EXPECT_EQ(choice.winner, 0);
}

TEST(choice, a_gain_within_the_interval_leaves_the_default) {
  const Choice choice = choose({contender(0, {around(100, 4)}), contender(1, {around(97, 4)})}, 0);
  EXPECT_EQ(choice.winner, 0);
}

TEST(choice, ten_identical_candidates_are_a_tie_and_the_default_stays) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0.0, 0.05);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<Contender> contenders;
    for (int number = 0; number < 10; ++number) {
      contenders.push_back(contender(number, {around(100 + noise(random), 0.4)}));
    }
    const Choice choice = choose(contenders, 4);
    EXPECT_EQ(choice.winner, 4);
    EXPECT_GE(choice.ties.size(), 8u);
  }
}

TEST(choice, ties_that_beat_the_default_are_broken_by_registers_then_block_then_text) {
  const std::vector<Contender> contenders = {
      contender(0, {around(110)}), contender(1, {around(100)}, 40, 128),
      contender(2, {around(100.1)}, 32, 256), contender(3, {around(99.95)}, 32, 128),
      contender(4, {around(99.9)}, 32, 128)};
  const Choice choice = choose(contenders, 0);
  EXPECT_EQ(choice.winner, 3);
  EXPECT_EQ(choice.ties, (std::vector<int>{4, 2, 1}));
}

TEST(choice, the_least_worst_case_loss_over_both_edges_wins) {
  // 1 is best at the first edge and poor at the second, 2 is near the best at both.
  const std::vector<Contender> contenders = {
      contender(0, {around(120), around(240)}), contender(1, {around(90), around(230)}),
      contender(2, {around(92), around(205)}), contender(3, {around(118), around(200)})};
  const Choice choice = choose(contenders, 0);
  EXPECT_EQ(choice.winner, 2);
  EXPECT_NEAR(choice.worst_loss, 205.0 / 200.0, 1e-9);
}

TEST(choice, a_candidate_slower_than_the_default_at_one_edge_does_not_win) {
  const std::vector<Contender> contenders = {contender(0, {around(100), around(200)}),
                                             contender(1, {around(80), around(204)})};
  EXPECT_EQ(choose(contenders, 0).winner, 0);
}

// It is ranked there all the same: 2 would lose more there than 1 does.
TEST(choice, where_an_edge_does_not_decide_a_winner_may_be_slower_than_the_default) {
  const std::vector<Contender> contenders = {contender(0, {around(100), around(200)}),
                                             contender(1, {around(80), around(204)}),
                                             contender(2, {around(79), around(240)})};
  EXPECT_EQ(choose(contenders, 0, {true, false}).winner, 1);
  EXPECT_EQ(choose(contenders, 0, {true, true}).winner, 0);
}

// 1 loses least of all, but not to the default where that counts; 2 beats it everywhere.
TEST(choice, who_may_not_win_stands_in_nobodys_way) {
  const std::vector<Contender> contenders = {contender(0, {around(110, 0.1), around(100, 0.1)}),
                                             contender(1, {around(100, 0.1), around(100.5, 0.1)}),
                                             contender(2, {around(104, 0.1), around(97, 0.1)})};
  EXPECT_EQ(choose(contenders, 0, {false, true}).winner, 2);
}

TEST(choice, the_order_of_the_contenders_does_not_matter) {
  std::vector<Contender> contenders = {contender(0, {around(110)}), contender(1, {around(100)}, 40),
                                       contender(2, {around(100.1)}, 32),
                                       contender(3, {around(105)})};
  const Choice first = choose(contenders, 0);
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(contenders.begin(), contenders.end(), random);
    const Choice again = choose(contenders, 0);
    EXPECT_EQ(again.winner, first.winner);
    EXPECT_EQ(again.ties, first.ties);
  }
}

}  // namespace
}  // namespace normd
