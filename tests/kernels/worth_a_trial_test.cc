// Which choices ranked_candidates() leaves out, because for so many rows another is better.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/catalog.h"

namespace normd {
namespace {

DeviceSpec h200() {
  return *architecture_preset("sm_90");
}

Problem square(std::int64_t rows, std::int64_t columns) {
  const DType dtype = DType::bf16;
  return {.rows = rows, .columns = columns, .x = dtype, .y = dtype, .gamma = dtype, .beta = dtype};
}

// Tensors that no cache holds leave it to y.
TEST(WorthATrialTest, only_large_tensors_keep_lines_of_x_in_the_cache) {
  const auto choices = [](const Problem& problem, const DeviceSpec& spec) {
    std::set<int> values;
    for (const Candidate& candidate : ranked_candidates(problem, spec)) {
      for (const auto& [name, value] : candidate.values) {
        if (name == "x_evict_last") values.insert(value);
      }
    }
    return values;
  };
  using testing::ElementsAre;
  for (const std::int64_t columns : {12, 128, 1024, 4095, 4096, 8192, 65536}) {
    const std::int64_t rows_per_mb = (1 << 20) / columns;  // of x and y in bf16: 4 MB
    EXPECT_THAT(choices(square(16 * rows_per_mb, columns), h200()), ElementsAre(0)) << columns;
    const int value = columns >= 4095 ? 1 : 0;
    EXPECT_THAT(choices(square(64 * rows_per_mb, columns), h200()), ElementsAre(value)) << columns;
    EXPECT_THAT(choices(square(512 * rows_per_mb, columns), h200()), ElementsAre(1)) << columns;
    EXPECT_THAT(choices(square(512 * rows_per_mb, columns), *architecture_preset("sm_75")),
                ElementsAre(0))
        << columns;
  }
}

// Where groups have a few turns, both are worth a trial.
TEST(WorthATrialTest, tickets_are_for_many_turns) {
  const auto choices = [](std::int64_t rows) {
    std::set<int> values;
    for (const Candidate& candidate : ranked_candidates(square(rows, 32768), h200())) {
      if (candidate.template_name == "cluster_pipeline" && candidate.value("cluster") > 1) {
        values.insert(candidate.value("tickets"));
      }
    }
    return values;
  };
  EXPECT_THAT(choices(8), testing::ElementsAre(0));
  EXPECT_THAT(choices(512), testing::ElementsAre(0, 1));
  EXPECT_THAT(choices(100000), testing::ElementsAre(1));
}

}  // namespace
}  // namespace normd
