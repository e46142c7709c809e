// Rows so wide that not all kinds of them lie in memory at once: the bounds hold, and no kind is
// left out.
#include "kernels/limits.h"
#include "kernels/row_bucket.h"
#include "tests/tuner/worker/mutants.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

void expect_within_the_memory_of_a_tuning(Problem problem) {
  const DeviceSpec& spec = test_device_spec();
  for (const std::int64_t rows : {1, 2, 100}) {
    problem.rows = rows;
    const auto bucket = row_bucket(problem, spec, BucketMode::bucketed);
    // What is measured at most, for whatever rows were asked: see row_bucket.h.
    if (rows > 2 && bucket.rows_min == rows) continue;
    EXPECT_LE(bench_bytes(problem, measured_edges(problem, spec, bucket), spec),
              static_cast<double>(limits::tuning_memory_bytes_max))
        << to_text(problem);
    EXPECT_GE(kinds_rows(problem, spec), 3) << to_text(problem);
  }
}

TEST(wide_rows, the_widest_rows_stay_within_the_memory_of_a_tuning) {
  for (const DType x : all_dtypes) {
    for (const DType y : all_dtypes) {
      for (std::int64_t columns = 1; columns <= limits::columns_max; columns *= 2) {
        for (const RowsLayout layout : {RowsLayout::contiguous, RowsLayout::strided}) {
          expect_within_the_memory_of_a_tuning(
              {.columns = columns, .x = x, .y = y, .rows_layout = layout});
        }
      }
    }
  }
}

// x and y, nine times each.
TEST(wide_rows, rows_that_lie_far_apart_count_towards_the_memory_of_a_tuning) {
  const DeviceSpec& spec = test_device_spec();
  Problem problem{.rows = 1, .columns = limits::columns_max};
  const double contiguous = bench_bytes(problem, {{1}}, spec);
  problem.rows_layout = RowsLayout::strided;
  EXPECT_GT(bench_bytes(problem, {{1}}, spec), contiguous + 9 * workload_bytes(problem) - 1000);
}

TEST(wide_rows, mixed_rows_count_towards_the_memory_of_a_tuning) {
  const DeviceSpec& spec = test_device_spec();
  const Problem problem{.rows = 1, .columns = limits::columns_max};
  Problem mixed = problem;
  mixed.rows = kinds_rows(problem, spec);
  EXPECT_GT(bench_bytes(problem, {{1}}, spec), workload_bytes(mixed));
  EXPECT_LT(workload_bytes(mixed), 512.0 * (1 << 20));
}

class WideRows : public testing::Test {
 protected:
  static constexpr std::int64_t columns_ = std::int64_t{1} << 20;
  Verdict verdict_of(const std::vector<Change>& changes) {
    auto bench = TrialBench::open(test_device, testing::TempDir());
    EXPECT_TRUE(bench) << bench.error().message;
    const Problem problem{.rows = 1, .columns = columns_, .stats = Stats::mean_rstd};
    const auto prepared = (*bench)->prepare(problem, {{1}}, Grade::exact);
    EXPECT_TRUE(prepared) << prepared.error().message;
    const Template& tiled = *find_template("block_tiled");
    const Candidate candidate = enumerate(tiled, problem, test_device_spec()).front();
    const auto binary = compile(mutant(problem, candidate, changes));
    EXPECT_TRUE(binary) << binary.error().message;
    return (*bench)
        ->try_candidate(0, candidate, *binary, launch_of(candidate, problem, test_device_spec()),
                        false)
        .verdict;
  }
};

TEST_F(WideRows, a_right_kernel_passes) {
  const Verdict verdict = verdict_of({});
  EXPECT_EQ(verdict.kind, VerdictKind::measured) << verdict.detail;
}

// Wrong on the rows with a mean of 1e5 alone, and those are in the second laying.
TEST_F(WideRows, a_kernel_that_errs_on_a_kind_of_the_last_laying_is_refused) {
  const Verdict verdict = verdict_of({{"const float v = count.divide(row.squares) + epsilon;",
                                       "const float middle = row.mean + row.correction;\n"
                                       "const float v = count.divide(row.squares) + "
                                       "(middle > 5e4f && middle < 2e5f ? 0.1f : epsilon);"}});
  EXPECT_EQ(verdict.kind, VerdictKind::refused);
  EXPECT_EQ(reason_name(verdict.reason), reason_name(Reason::wrong_result)) << verdict.detail;
}

}  // namespace
}  // namespace normd
