#include "tuner/seeded_order.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

Candidate candidate(int threads) {
  return {"a", {{"threads", threads}}};
}

std::vector<Candidate> candidates(const std::vector<int>& threads) {
  std::vector<Candidate> all;
  for (const int count : threads) all.push_back(candidate(count));
  return all;
}

std::vector<Trial> trials(const std::vector<int>& threads) {
  std::vector<Trial> all;
  for (const int count : threads) all.push_back({.candidate = candidate(count)});
  return all;
}

const std::vector<Candidate> ranked = candidates({10, 11, 12, 13, 14, 15});

TEST(SeededOrder, the_old_winner_then_the_default_its_ties_the_old_trials_and_the_rest_in_rank) {
  const Winner winner{.candidate = candidate(14), .ties = candidates({13})};
  EXPECT_EQ(seeded_order(ranked, winner, trials({15, 12})), (std::vector<int>{4, 0, 3, 5, 2, 1}));
}

TEST(SeededOrder, each_is_tried_once_however_often_it_is_named) {
  const Winner winner{.candidate = candidate(10), .ties = candidates({12, 10})};
  EXPECT_EQ(seeded_order(ranked, winner, trials({12, 10, 12, 11})),
            (std::vector<int>{0, 2, 1, 3, 4, 5}));
}

TEST(SeededOrder, what_the_catalog_has_no_more_is_passed_over) {
  const Winner winner{.candidate = candidate(99), .ties = candidates({98})};
  EXPECT_EQ(seeded_order(ranked, winner, trials({97, 15, 96})),
            (std::vector<int>{0, 5, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace normd
