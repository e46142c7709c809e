// The arithmetic of kernels/templates/welford.cuh by its host body: known merges, empty sides.
#include <gtest/gtest.h>

#include "kernels/templates/platform.cuh"
// After the platform that it is written in.
#include "kernels/templates/welford.cuh"

namespace normd {
namespace {

Moments moments_of(std::initializer_list<float> values) {
  Moments moments;
  for (const float value : values) moments.add(value);
  return moments;
}

void expect_moments(const Moments& moments, float count, float mean, float m2) {
  EXPECT_EQ(moments.count, count);
  EXPECT_FLOAT_EQ(moments.mean, mean);
  EXPECT_FLOAT_EQ(moments.m2, m2);
}

TEST(WelfordTest, one_to_eight_over_four_lanes_have_mean_4_5_and_squares_42) {
  const Moments lanes[] = {moments_of({1, 5}), moments_of({2, 6}), moments_of({3, 7}),
                           moments_of({4, 8})};
  expect_moments(merge(merge(lanes[0], lanes[1]), merge(lanes[2], lanes[3])), 8, 4.5f, 42);
  expect_moments(merge(merge(merge(lanes[0], lanes[1]), lanes[2]), lanes[3]), 8, 4.5f, 42);
}

TEST(WelfordTest, two_groups_merge_to_the_moments_of_all_four) {
  expect_moments(merge(moments_of({10, 12}), moments_of({14, 16})), 4, 13, 20);
  expect_moments(moments_of({10, 12, 14, 16}), 4, 13, 20);
}

TEST(WelfordTest, an_empty_side_changes_nothing_even_beside_infinity) {
  const Moments some = moments_of({3, 5, 10});
  expect_moments(merge(some, Moments{}), some.count, some.mean, some.m2);
  expect_moments(merge(Moments{}, some), some.count, some.mean, some.m2);
  expect_moments(merge(Moments{}, Moments{}), 0, 0, 0);
  const Moments huge = {1, 3e38f, 0};
  expect_moments(merge(huge, Moments{}), 1, 3e38f, 0);
}

TEST(WelfordTest, sides_of_different_sizes_count_by_their_size) {
  const Moments merged = merge(moments_of({2}), moments_of({4, 4, 4, 10}));
  expect_moments(merged, 5, 4.8f, 36.8f);
}

}  // namespace
}  // namespace normd
