#include "tuner/statistics.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace normd {
namespace {

TEST(statistics, the_median_of_an_even_count_is_between_the_middle_two) {
  EXPECT_EQ(median_interval({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(median_interval({9}).median, 9);
}

TEST(statistics, few_samples_give_their_extremes) {
  const Interval interval = median_interval({5, 1, 3});
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 5);
  EXPECT_EQ(interval.samples, 3);
}

TEST(statistics, one_outlier_does_not_move_the_median_or_its_interval) {
  std::vector<double> samples(30);
  std::iota(samples.begin(), samples.end(), 100);
  const Interval clean = median_interval(samples);
  samples.back() = 1e9;
  const Interval spoiled = median_interval(samples);
  EXPECT_EQ(spoiled.median, clean.median);
  EXPECT_EQ(spoiled.high, clean.high);
}

TEST(statistics, the_interval_holds_the_true_median_about_95_times_in_100) {
  std::mt19937 random(7);
  std::exponential_distribution<double> draw(1.0);  // skewed, as times are
  const double truth = std::log(2.0);
  int held = 0;
  constexpr int trials = 4000;
  for (int i = 0; i < trials; ++i) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = draw(random);
    const Interval interval = median_interval(samples);
    held += interval.low <= truth && truth <= interval.high;
  }
  EXPECT_GT(held, trials * 93 / 100);
  EXPECT_LT(held, trials * 99 / 100);
}

TEST(statistics, more_samples_give_a_narrower_interval) {
  std::mt19937 random(8);
  std::normal_distribution<double> draw(100.0, 1.0);
  const auto width_of = [&](int count) {
    std::vector<double> samples(static_cast<std::size_t>(count));
    for (double& sample : samples) sample = draw(random);
    return median_interval(samples).relative_width();
  };
  EXPECT_LT(width_of(1000), width_of(20));
}

}  // namespace
}  // namespace normd
