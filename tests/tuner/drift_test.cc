#include "tuner/drift.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

constexpr MeasuredEdge low{.rows = 1, .cache = CacheState::cold, .decides = true};
constexpr MeasuredEdge aside{.rows = 132, .cache = CacheState::warm, .decides = false};
constexpr MeasuredEdge high{.rows = 132, .cache = CacheState::cold, .decides = true};
const std::vector<MeasuredEdge> edges = {low, aside, high};

// So many nanoseconds give or take 0.2 %, beside a copy.
Measurement measured(const MeasuredEdge& edge, double ns, double copy_ns = 1000) {
  return {.rows = edge.rows,
          .cache = edge.cache,
          .median_ns = ns,
          .low_ns = ns * 0.998,
          .high_ns = ns * 1.002,
          .samples = 10,
          .copy_ns = copy_ns};
}

std::vector<Drift> drifts_of(const std::vector<Measurement>& now) {
  return find_drifts({measured(low, 2000), measured(aside, 1100), measured(high, 1100)}, now,
                     edges);
}

TEST(Drift, a_change_of_less_than_five_percent_is_none) {
  EXPECT_TRUE(drifts_of({measured(low, 2090), measured(high, 1050)}).empty());
  EXPECT_TRUE(drifts_of({measured(low, 2000), measured(high, 1100)}).empty());
}

TEST(Drift, a_greater_change_is_one_in_either_direction) {
  const auto slower = drifts_of({measured(low, 2000), measured(high, 1166)});
  ASSERT_EQ(slower.size(), 1u);
  EXPECT_EQ(slower.front().rows, 132);
  EXPECT_DOUBLE_EQ(slower.front().before, 1.1);
  EXPECT_DOUBLE_EQ(slower.front().now, 1.166);
  EXPECT_EQ(to_text(slower.front()), "rows=132 cache=cold 1.100 -> 1.166 of a copy");
  EXPECT_EQ(drifts_of({measured(low, 1800), measured(high, 1100)}).size(), 1u);
}

TEST(Drift, what_the_copy_shares_is_none) {
  EXPECT_TRUE(drifts_of({measured(low, 4000, 2000), measured(high, 2200, 2000)}).empty());
  EXPECT_EQ(drifts_of({measured(low, 2000, 2000), measured(high, 2200, 2000)}).size(), 1u);
}

TEST(Drift, an_edge_that_does_not_decide_says_nothing) {
  EXPECT_TRUE(drifts_of({measured(aside, 2200)}).empty());
}

TEST(Drift, what_was_not_measured_or_has_no_copy_says_nothing) {
  EXPECT_TRUE(drifts_of({}).empty());
  EXPECT_TRUE(drifts_of({measured(low, 3000, 0), measured(high, 0)}).empty());
  EXPECT_TRUE(find_drifts({measured(low, 2000, 0)}, {measured(low, 3000)}, edges).empty());
}

TEST(Drift, noise_wider_than_the_change_says_nothing) {
  Measurement noisy = measured(high, 1200);
  noisy.low_ns = 1050;
  EXPECT_TRUE(drifts_of({noisy}).empty());
}

constexpr Drift slower{.rows = 132, .cache = CacheState::cold, .before = 1.1, .now = 1.2};
constexpr Drift faster{.rows = 132, .cache = CacheState::cold, .before = 1.1, .now = 1.0};
constexpr Drift elsewhere{.rows = 1, .cache = CacheState::cold, .before = 2, .now = 2.2};

TEST(Suspicion, the_second_check_in_a_row_confirms_it_and_the_next_begins_anew) {
  Suspicion suspicion;
  EXPECT_FALSE(suspicion.confirm({slower}));
  EXPECT_TRUE(suspicion.exists());
  EXPECT_TRUE(suspicion.confirm({elsewhere, slower}));
  EXPECT_FALSE(suspicion.exists());
  EXPECT_FALSE(suspicion.confirm({slower}));
}

TEST(Suspicion, a_check_that_finds_nothing_ends_it) {
  Suspicion suspicion;
  EXPECT_FALSE(suspicion.confirm({slower}));
  EXPECT_FALSE(suspicion.confirm({}));
  EXPECT_FALSE(suspicion.exists());
  EXPECT_FALSE(suspicion.confirm({slower}));
}

TEST(Suspicion, another_edge_or_the_other_way_is_another_suspicion) {
  Suspicion suspicion;
  EXPECT_FALSE(suspicion.confirm({slower}));
  EXPECT_FALSE(suspicion.confirm({faster}));
  EXPECT_FALSE(suspicion.confirm({elsewhere}));
  EXPECT_TRUE(suspicion.confirm({elsewhere}));
}

}  // namespace
}  // namespace normd
