#include "kernels/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/catalog.h"
#include "tests/kernels/catalog_samples.h"

namespace normd {
namespace {

DeviceSpec h200() {
  return *architecture_preset("sm_90");
}

Problem square(std::int64_t rows, std::int64_t columns, DType dtype = DType::bf16) {
  return {.rows = rows, .columns = columns, .x = dtype, .y = dtype, .gamma = dtype, .beta = dtype};
}

Candidate first(std::int64_t rows, std::int64_t columns, DType dtype = DType::bf16) {
  return ranked_candidates(square(rows, columns, dtype), h200()).front();
}

TEST(CostModelTest, every_estimate_is_a_positive_time_not_below_the_copy_limit_of_large_problems) {
  std::mt19937 random(announced_seed());
  for (const Sample& sample : drawn_pool(random, {h200(), host_device_spec()}, 10)) {
    const double ns = estimated_ns(sample.candidate, sample.problem, sample.spec);
    ASSERT_TRUE(std::isfinite(ns) && ns > 0) << to_text(sample);
  }
  const Problem large = square(65536, 4096);
  for (const Candidate& candidate : ranked_candidates(large, h200())) {
    EXPECT_GE(estimated_ns(candidate, large, h200()), copy_limit_ns(large, h200()));
  }
}

TEST(CostModelTest, the_copy_limit_is_bytes_over_the_data_sheet_rate) {
  // 2 x 3201 MHz x 768 bytes = 4917 bytes per nanosecond.
  const Problem problem = {.rows = 1 << 16, .columns = 1 << 10, .x = DType::bf16, .y = DType::bf16};
  EXPECT_NEAR(copy_limit_ns(problem, h200()), 4.0 * (1 << 26) / 4916.7, 100);
}

TEST(CostModelTest, narrow_rows_default_to_lanes_and_wide_ones_to_blocks) {
  EXPECT_EQ(first(1 << 20, 64).template_name, "sub_warp");
  EXPECT_EQ(first(1 << 18, 128).template_name, "sub_warp");
  EXPECT_EQ(first(16384, 4096).template_name, "block_registers");
  EXPECT_EQ(first(2048, 32768).template_name, "cluster_pipeline");
  EXPECT_EQ(first(1024, 65536).template_name, "cluster_pipeline");
  EXPECT_EQ(first(512, 1 << 20).template_name, "grid_pipeline");
  EXPECT_EQ(first(64, 1 << 23).template_name, "block_tiled");
}

std::int64_t threads_per_row(std::int64_t rows, std::int64_t columns) {
  const Launch launch = launch_of(first(rows, columns), square(rows, columns), h200());
  return launch.blocks_per_row * launch.block / launch.rows_per_block;
}

TEST(CostModelTest, one_wide_row_gets_more_threads_than_each_of_many) {
  for (const std::int64_t columns : {8192, 65536}) {
    EXPECT_GE(threads_per_row(1, columns), threads_per_row(8192, columns)) << columns;
    EXPECT_GE(threads_per_row(1, columns), 256) << columns;
  }
}

TEST(CostModelTest, wide_accesses_come_first_where_rows_allow_them) {
  for (const std::int64_t columns : {1024, 4096, 8192}) {
    EXPECT_EQ(first(16384, columns).value("vector_bytes"), 16) << columns;
  }
}

// Accesses of whole packs, though no row begins where such an access may.
TEST(CostModelTest, wide_rows_that_begin_on_an_element_are_first_tried_by_aligned_packs) {
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    for (const auto& [rows, columns] :
         {std::pair{67041, 1001}, {16388, 4095}, {8193, 8191}, {16384, 4096}, {8192, 8192}}) {
      Problem problem = square(rows, columns, dtype);
      problem.align_bytes = 2;
      const auto candidates = ranked_candidates(problem, h200());
      ASSERT_GE(candidates.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(candidates[i].template_name, "phase_aligned")
            << to_text(candidates[i]) << " for " << to_text(problem);
      }
    }
  }
}

}  // namespace
}  // namespace normd
