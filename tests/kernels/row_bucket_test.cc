#include "kernels/row_bucket.h"

#include <gtest/gtest.h>

#include "kernels/limits.h"
#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

RowBucket bucket_at(Problem problem, const DeviceSpec& spec, std::int64_t rows,
                    BucketMode mode = BucketMode::bucketed) {
  problem.rows = rows;
  return row_bucket(problem, spec, mode);
}

// All buckets in order, from one row to the open end.
std::vector<RowBucket> all_buckets(const Problem& problem, const DeviceSpec& spec) {
  std::vector<RowBucket> buckets{bucket_at(problem, spec, 1)};
  while (buckets.back().rows_max != 0) {
    buckets.push_back(bucket_at(problem, spec, buckets.back().rows_max + 1));
  }
  return buckets;
}

TEST(row_bucket, edges_follow_how_often_the_rows_fill_the_device) {
  const Problem problem{.columns = 8192, .x = DType::bf16, .y = DType::bf16};
  std::string texts;
  for (const RowBucket& bucket : all_buckets(problem, *architecture_preset("sm_90"))) {
    texts += to_text(bucket) + " ";
  }
  EXPECT_EQ(texts,
            "1..1 2..33 34..66 67..132 133..264 265..528 529..1056 1057..2112 2113..4096 4097.. ");
}

TEST(row_bucket, a_full_device_is_an_edge_for_every_multiprocessor_count) {
  const Problem problem{.columns = 1};
  for (int sm_count = 4; sm_count <= 300; ++sm_count) {
    DeviceSpec spec = *architecture_preset("sm_90");
    spec.sm_count = sm_count;
    EXPECT_EQ(bucket_at(problem, spec, sm_count).rows_max, sm_count);
    EXPECT_EQ(bucket_at(problem, spec, 8 * sm_count).rows_max, 8 * sm_count);
  }
}

TEST(row_bucket, buckets_partition_all_row_counts) {
  NORMD_EXPECT_PROPERTY("no gap, no overlap, and one bucket however it is asked for", [] {
    const Problem problem = any_problem();
    const DeviceSpec spec = any_device_spec();
    std::int64_t next = 1;
    for (const RowBucket& bucket : all_buckets(problem, spec)) {
      RC_ASSERT(bucket.rows_min == next);
      RC_ASSERT(bucket.rows_max == 0 || bucket.rows_max >= bucket.rows_min);
      const std::int64_t last =
          bucket.rows_max != 0 ? bucket.rows_max : std::int64_t{4} * limits::rows_max;
      const std::int64_t inside = *rc::gen::inRange(bucket.rows_min, last + 1);
      for (const std::int64_t rows : {bucket.rows_min, inside, last}) {
        RC_ASSERT(bucket_at(problem, spec, rows) == bucket);
        RC_ASSERT(bucket.contains(rows));
      }
      RC_ASSERT(!bucket.contains(bucket.rows_min - 1));
      next = bucket.rows_max + 1;
    }
  });
}

TEST(row_bucket, the_edges_depend_on_width_and_element_sizes_alone) {
  NORMD_EXPECT_PROPERTY("options of a problem do not move its edges", [] {
    const Problem problem = any_problem();
    const DeviceSpec spec = any_device_spec();
    Problem plain{.rows = problem.rows, .columns = problem.columns, .x = problem.x, .y = problem.y};
    RC_ASSERT(row_bucket(problem, spec, BucketMode::bucketed) ==
              row_bucket(plain, spec, BucketMode::bucketed));
  });
}

TEST(row_bucket, it_is_measured_inside_itself_and_at_its_edges) {
  NORMD_EXPECT_PROPERTY("measured rows", [] {
    const Problem problem = any_problem();
    const DeviceSpec spec = any_device_spec();
    const auto mode = *rc::gen::element(BucketMode::bucketed, BucketMode::single_row_count,
                                        BucketMode::batch_invariant);
    const RowBucket bucket = row_bucket(problem, spec, mode);
    const auto measured = measured_rows(problem, spec, bucket);
    RC_ASSERT(!measured.empty() && measured.size() <= 2u);
    RC_ASSERT(measured.front() == bucket.rows_min);
    for (const std::int64_t rows : measured) RC_ASSERT(bucket.contains(rows));
    RC_ASSERT((measured.size() == 1) == (bucket.rows_min == bucket.rows_max));
    if (bucket.rows_max != 0) RC_ASSERT(measured.back() == bucket.rows_max);
    if (bucket.rows_max == 0) RC_ASSERT(measured.back() >= 2 * bucket.rows_min);
  });
}

// A bucket that took more memory than the stated size could not be tuned on a small device.
TEST(row_bucket, measuring_takes_little_more_than_the_stated_size) {
  NORMD_EXPECT_PROPERTY("bytes measured", [] {
    Problem problem = any_problem();
    const DeviceSpec spec = any_device_spec();
    const auto row_bytes =
        problem.columns * static_cast<std::int64_t>(size_bytes(problem.x) + size_bytes(problem.y));
    const RowBucket bucket = row_bucket(problem, spec, BucketMode::bucketed);
    const std::int64_t most = measured_rows(problem, spec, bucket).back();
    RC_ASSERT(most * row_bytes <= std::max(2 * spec.measure_bytes + 2 * row_bytes, 4 * row_bytes));
  });
}

TEST(row_bucket, the_other_modes_take_one_row_count_or_all) {
  const Problem problem{.columns = 512};
  const DeviceSpec spec = *architecture_preset("sm_80");
  EXPECT_EQ(bucket_at(problem, spec, 77, BucketMode::single_row_count), (RowBucket{77, 77}));
  EXPECT_EQ(bucket_at(problem, spec, 77, BucketMode::batch_invariant), (RowBucket{1, 0}));
  EXPECT_EQ(bucket_at(problem, spec, 1, BucketMode::batch_invariant), (RowBucket{1, 0}));
}

TEST(row_bucket, no_rows_share_the_bucket_of_one_row) {
  const Problem problem{.columns = 512};
  const DeviceSpec spec = *architecture_preset("sm_80");
  EXPECT_EQ(bucket_at(problem, spec, 0), (RowBucket{1, 1}));
  EXPECT_EQ(bucket_at(problem, spec, 0, BucketMode::single_row_count), (RowBucket{1, 1}));
}

TEST(row_bucket, every_bucket_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_row_bucket(to_text(b)) == b", [] {
    RowBucket bucket{.rows_min = *any_magnitude(1, limits::rows_max)};
    const bool open = *rc::gen::inRange(0, 2) == 0;
    bucket.rows_max = open ? 0 : bucket.rows_min + *any_magnitude(0, limits::rows_max);
    const auto parsed = parse_row_bucket(to_text(bucket));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == bucket);
  });
}

TEST(row_bucket, any_other_text_is_refused) {
  for (const char* wrong : {"", "..", "5", "1.5", "..5", "0..5", "-1..5", "5..4", "1..0", "1...5",
                            "1..-5", "01..5", "1..05", "1 ..5", "1..5 ", "1..5..9", "1..x"}) {
    const auto parsed = parse_row_bucket(wrong);
    ASSERT_FALSE(parsed) << "'" << wrong << "'";
    EXPECT_EQ(parsed.error().field, "rows");
  }
}

TEST(row_bucket, modes_have_names) {
  for (const BucketMode mode :
       {BucketMode::bucketed, BucketMode::single_row_count, BucketMode::batch_invariant}) {
    EXPECT_EQ(parse_bucket_mode(bucket_mode_name(mode)), mode);
  }
  EXPECT_EQ(bucket_mode_name(BucketMode::batch_invariant), "batch_invariant");
  EXPECT_FALSE(parse_bucket_mode("bucket"));
  EXPECT_FALSE(parse_bucket_mode(""));
}

}  // namespace
}  // namespace normd
