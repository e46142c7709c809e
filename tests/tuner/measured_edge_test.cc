#include "tuner/measured_edge.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

DeviceSpec h200() {
  DeviceSpec spec = *architecture_preset("sm_90");
  spec.l2_bytes = std::int64_t{60} << 20;
  return spec;
}

Problem of_columns(std::int64_t columns) {
  return {.columns = columns, .x = DType::bf16, .y = DType::bf16};
}

TEST(MeasuredEdge, what_fits_in_half_the_cache_is_decided_warm_and_measured_cold_as_well) {
  EXPECT_EQ(measured_edges(of_columns(1024), h200(), {128, 256}),
            (std::vector<MeasuredEdge>{{128, CacheState::cold, false},
                                       {128, CacheState::warm, true},
                                       {256, CacheState::cold, false},
                                       {256, CacheState::warm, true}}));
}

TEST(MeasuredEdge, what_just_fits_is_decided_cold_and_what_does_not_is_measured_cold_alone) {
  // 40 MB and 80 MB of x and y.
  EXPECT_EQ(measured_edges(of_columns(1024), h200(), {10'000, 20'000}),
            (std::vector<MeasuredEdge>{{10'000, CacheState::warm, false},
                                       {10'000, CacheState::cold, true},
                                       {20'000, CacheState::cold, true}}));
}

TEST(MeasuredEdge, a_bucket_of_one_row_count_has_one_and_a_device_without_a_cache_one_state) {
  EXPECT_EQ(measured_edges(of_columns(64), h200(), {7, 7}),
            (std::vector<MeasuredEdge>{{7, CacheState::cold, false}, {7, CacheState::warm, true}}));
  DeviceSpec bare = h200();
  bare.l2_bytes = 0;
  EXPECT_EQ(measured_edges(of_columns(64), bare, {7, 7}),
            (std::vector<MeasuredEdge>{{7, CacheState::cold, true}}));
}

}  // namespace
}  // namespace normd
