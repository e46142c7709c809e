// Which choices ranked_candidates() leaves out, because for so many rows another pays more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/row_bucket.h"

namespace normd {
namespace {

DeviceSpec h200() {
  return *architecture_preset("sm_90");
}

Problem square(std::int64_t rows, std::int64_t columns) {
  const DType dtype = DType::bf16;
  return {.rows = rows, .columns = columns, .x = dtype, .y = dtype, .gamma = dtype, .beta = dtype};
}

// The values of an axis among these candidates, of one template or of all that have it.
std::set<int> values_of(const std::vector<Candidate>& candidates, std::string_view axis,
                        std::string_view template_name = "") {
  std::set<int> values;
  for (const Candidate& candidate : candidates) {
    if (!template_name.empty() && candidate.template_name != template_name) continue;
    for (const auto& [name, value] : candidate.values) {
      if (name == axis) values.insert(value);
    }
  }
  return values;
}

using testing::ElementsAre;

// 4096x1280 fp32 in the cache: sub_warp and block_registers rank first, cluster_pipeline wins.
TEST(PaysTest, a_template_that_ranks_low_has_its_best_soon_after_the_first_ten) {
  Problem problem = square(4096, 1280);
  problem.x = problem.y = DType::fp32;
  problem.gamma = problem.beta = DType::fp32;
  const auto candidates = ranked_candidates(problem, h200());
  std::vector<Candidate> unhedged = all_ranked_candidates(problem, h200());
  std::erase_if(unhedged, [&](const Candidate& candidate) {
    return std::find(candidates.begin(), candidates.end(), candidate) == candidates.end();
  });
  ASSERT_EQ(unhedged.size(), candidates.size());
  const auto pipelines_of = [](const std::vector<Candidate>& all, std::size_t places) {
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < std::min(places, all.size()); ++i) {
      if (all[i].template_name == "cluster_pipeline") found.push_back(all[i]);
    }
    return found;
  };
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(candidates[i], unhedged[i]) << i;
  EXPECT_TRUE(pipelines_of(unhedged, 20).empty());
  EXPECT_GE(pipelines_of(candidates, 20).size(), 3u);
  // Its own order is the cost model's.
  EXPECT_EQ(pipelines_of(candidates, candidates.size()), pipelines_of(unhedged, unhedged.size()));
}

TEST(PaysTest, x_of_large_tensors_alone_is_the_last_to_leave_the_cache) {
  const auto choices = [](std::int64_t rows, std::int64_t columns, std::string_view chip) {
    return values_of(ranked_candidates(square(rows, columns), *architecture_preset(chip)),
                     "x_evict_last");
  };
  for (const std::int64_t columns : {12, 128, 1024, 4095, 4096, 8192, 65536}) {
    const std::int64_t rows_per_mb = (1 << 20) / columns;  // of x and y in bf16: 4 MB
    EXPECT_THAT(choices(16 * rows_per_mb, columns, "sm_90"), ElementsAre(0)) << columns;
    const int value = columns >= 4095 ? 1 : 0;
    EXPECT_THAT(choices(64 * rows_per_mb, columns, "sm_90"), ElementsAre(value)) << columns;
    EXPECT_THAT(choices(512 * rows_per_mb, columns, "sm_90"), ElementsAre(1)) << columns;
    EXPECT_THAT(choices(512 * rows_per_mb, columns, "sm_80"), ElementsAre(0, 1)) << columns;
    EXPECT_THAT(choices(4 * rows_per_mb, columns, "sm_80"), ElementsAre(0)) << columns;
    EXPECT_THAT(choices(512 * rows_per_mb, columns, "sm_75"), ElementsAre(0)) << columns;
  }
  const DeviceSpec without = host_device_spec(architecture_preset("sm_75"));
  EXPECT_THAT(values_of(ranked_candidates(square(1 << 20, 1024), without), "x_evict_last"),
              ElementsAre(0));
}

// A winner serves a bucket: what pays at one of its ends is tried.
TEST(PaysTest, what_pays_for_some_measured_row_count_is_tried) {
  const Problem problem = square(1 << 20, 8192);
  const std::vector<std::int64_t> rows =
      measured_rows(problem, h200(), row_bucket(problem, h200(), BucketMode::bucketed));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(values_of(ranked_candidates(problem, h200(), rows), "x_evict_last"),
              ElementsAre(0, 1));
  EXPECT_THAT(values_of(ranked_candidates(problem, h200(), {1, 1 << 20}), "tickets"),
              ElementsAre(0, 1));
}

TEST(PaysTest, narrow_rows_stay_in_groups_of_warps_where_they_fill_most_of_the_cache) {
  const auto has_pipelines = [](std::int64_t rows, std::int64_t columns) {
    const auto values =
        values_of(ranked_candidates(square(rows, columns), h200()), "cluster", "cluster_pipeline");
    return !values.empty();
  };
  EXPECT_TRUE(has_pipelines(12608, 768));   // 0.6 of an H200's cache
  EXPECT_TRUE(has_pipelines(16384, 768));   // 0.8
  EXPECT_FALSE(has_pipelines(8192, 768));   // 0.4
  EXPECT_FALSE(has_pipelines(21504, 768));  // 1.05
  EXPECT_FALSE(has_pipelines(32768, 480));  // 1.0, of rows that are too narrow
  EXPECT_FALSE(has_pipelines(24576, 504));  // 0.8, of 1008 bytes
  EXPECT_TRUE(has_pipelines(8192, 2048));   // wide rows always

  const auto narrow = ranked_candidates(square(12608, 768), h200());
  EXPECT_THAT(values_of(narrow, "cluster", "cluster_pipeline"), ElementsAre(1));
  EXPECT_THAT(values_of(narrow, "blocks_per_sm", "cluster_pipeline"), ElementsAre(4, 6));
  EXPECT_GE(*values_of(narrow, "rows_per_block", "cluster_pipeline").begin(), 4);
  const auto wide = ranked_candidates(square(8192, 2048), h200());
  EXPECT_THAT(values_of(wide, "blocks_per_sm", "cluster_pipeline"), ElementsAre(1, 2, 4));
  for (const Candidate& candidate : wide) {
    if (candidate.template_name != "cluster_pipeline") continue;
    EXPECT_LE(candidate.value("threads") * candidate.value("blocks_per_sm"), 1024);
  }
}

// Whatever the width, a bucket that holds rows which fill most of the cache has an edge that does.
TEST(PaysTest, narrow_pipelines_are_tried_for_buckets_too) {
  for (std::int64_t columns = 512; columns < 2048; columns += 32) {
    const Problem problem = square((38 << 20) / (4 * columns), columns);  // 0.63 of the cache
    const std::vector<std::int64_t> rows =
        measured_rows(problem, h200(), row_bucket(problem, h200(), BucketMode::bucketed));
    EXPECT_FALSE(
        values_of(ranked_candidates(problem, h200(), rows), "cluster", "cluster_pipeline").empty())
        << columns;
  }
}

TEST(PaysTest, gamma_and_beta_of_fp32_rows_are_held_for_a_few_turns) {
  Problem problem = square(128, 65536);
  EXPECT_THAT(values_of(ranked_candidates(problem, h200()), "affine_held"), ElementsAre(0));
  problem.x = problem.y = DType::fp32;
  problem.gamma = problem.beta = DType::fp32;
  EXPECT_THAT(values_of(ranked_candidates(problem, h200()), "affine_held"), ElementsAre(0, 1));
  problem.rows = 100000;  // for many turns not
  EXPECT_THAT(values_of(ranked_candidates(problem, h200()), "affine_held"), ElementsAre(0));
  problem.rows = 128;
  problem.beta = DType::bf16;  // floats beside what is held
  EXPECT_THAT(values_of(ranked_candidates(problem, h200()), "affine_held"), ElementsAre(0));
  problem.gamma = problem.beta = std::nullopt;
  EXPECT_THAT(values_of(ranked_candidates(problem, h200()), "affine_held"), ElementsAre(0));
}

// Where groups have a few turns, both are worth a trial.
TEST(PaysTest, tickets_are_for_many_turns) {
  const auto choices = [](std::int64_t rows) {
    std::vector<Candidate> clusters = ranked_candidates(square(rows, 32768), h200());
    std::erase_if(clusters, [](const Candidate& candidate) {
      return candidate.template_name == "cluster_pipeline" && candidate.value("cluster") == 1;
    });
    return values_of(clusters, "tickets", "cluster_pipeline");
  };
  EXPECT_THAT(choices(8), ElementsAre(0));
  EXPECT_THAT(choices(512), ElementsAre(0, 1));
  EXPECT_THAT(choices(100000), ElementsAre(1));
}

TEST(PaysTest, few_rows_get_blocks_of_one_row_and_registers_as_they_come) {
  const auto few = ranked_candidates(square(16, 8192), h200());
  EXPECT_THAT(values_of(few, "rows_per_block", "block_registers"), ElementsAre(1));
  EXPECT_THAT(values_of(few, "threads_per_sm", "block_registers"), ElementsAre(0));
  const auto many = ranked_candidates(square(16384, 8192), h200());
  EXPECT_GT(values_of(many, "rows_per_block", "block_registers").size(), 1u);
  EXPECT_GT(values_of(many, "threads_per_sm", "block_registers").size(), 1u);

  const auto narrow = ranked_candidates(square(8192, 128), h200());
  EXPECT_THAT(values_of(ranked_candidates(square(1, 128), h200()), "threads", "sub_warp"),
              ElementsAre(64));
  // 1024 blocks of eight rows are 64 threads each, four warps for a scheduler there are not.
  for (const Candidate& candidate : narrow) {
    if (candidate.template_name != "sub_warp" || candidate.value("threads_per_sm") == 0) continue;
    EXPECT_GE(8192 * candidate.value("lanes_per_row"), 132 * 512) << to_text(candidate);
  }
  EXPECT_THAT(
      values_of(ranked_candidates(square(2, 65536), h200()), "rows_per_block", "cluster_pipeline"),
      ElementsAre(1, 2));
}

// What a tuning can try in its seconds is some hundred. Widths that most templates take.
TEST(PaysTest, no_shape_has_many_times_as_many_candidates_as_can_be_tried) {
  for (const std::string_view chip : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    const DeviceSpec spec = *architecture_preset(chip);
    for (const std::int64_t columns : {384, 2560, 10240, 12288, 20480, 65536}) {
      for (const std::int64_t rows : {7, 96, 1024, 4096, 16384}) {
        for (const DType dtype : {DType::fp32, DType::bf16}) {
          const Problem problem{.rows = rows,
                                .columns = columns,
                                .x = dtype,
                                .y = dtype,
                                .gamma = dtype,
                                .beta = dtype};
          const std::size_t count = ranked_candidates(problem, spec).size();
          EXPECT_LE(count, spec.capability == 90 ? 256u : 384u) << to_text(problem) << chip;
        }
      }
    }
  }
}

}  // namespace
}  // namespace normd
