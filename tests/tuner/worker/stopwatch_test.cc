// The clock runs what the gate has passed: rows that lie as the problem says.
#include "tuner/worker/stopwatch.h"

#include "tests/tuner/worker/mutants.h"
#include "tests/tuner/worker/test_worker.h"
#include "tuner/compiler/compiler.h"
#include "tuner/trial_worker.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class Stopwatched : public testing::Test {
 protected:
  void SetUp() override { test_device_spec(); }

  // Loads and times a candidate at both row counts; the error of whatever went wrong.
  Result<void> timed(const Problem& problem, const std::vector<Change>& changes) {
    TrialWorker worker({.words = {test_worker()}}, std::string(test_device), testing::TempDir(),
                       10'000ms);
    if (auto done = worker.prepare(problem, {{1}, {problem.rows}}, Grade::exact); !done)
      return done;
    const Candidate candidate = candidate_of(problem, 1);
    auto binary = compile(mutant(problem, candidate, changes));
    if (!binary) return fail(binary.error());
    const auto tried = worker.try_candidate(
        0, {candidate, *binary, launch_of(candidate, problem, test_device_spec())});
    if (!tried) return fail(tried.error());
    EXPECT_EQ(tried->verdict.kind, VerdictKind::measured) << tried->verdict.detail;
    for (const std::size_t edge : {0, 1}) {
      const auto samples = worker.sample({0, -1}, edge);
      if (!samples) return fail(samples.error());
      EXPECT_GT(samples->ns.front(), 0);
      EXPECT_GT(samples->ns.back(), 0);
    }
    return {};
  }
};

// Strided rows keep the promised alignment, whatever the width; the kernel says so by faulting.
TEST_F(Stopwatched, strided_rows_are_timed_at_strides_that_keep_the_promised_alignment) {
  const Problem problem{.rows = 8,
                        .columns = 12,
                        .x = DType::fp16,
                        .y = DType::fp32,
                        .rows_layout = RowsLayout::strided,
                        .align_bytes = 16};
  const auto done =
      timed(problem,
            at_the_start(
                "if (arguments.x_row_stride <= arguments.columns || arguments.x_row_stride % 8 || "
                "arguments.y_row_stride <= arguments.columns || arguments.y_row_stride % 4) "
                "*(volatile int*)8 = 1;"));
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(Stopwatched, real_kernels_are_timed_on_strided_rows_of_every_dtype_pair) {
  for (const DType x : all_dtypes) {
    for (const DType y : all_dtypes) {
      const Problem problem{.rows = 8,
                            .columns = 1001,
                            .x = x,
                            .y = y,
                            .stats = Stats::mean_rstd,
                            .rows_layout = RowsLayout::strided,
                            .align_bytes = 16};
      const auto done = timed(problem, {});
      EXPECT_TRUE(done) << to_text(problem) << ": " << done.error().message;
    }
  }
}

TEST_F(Stopwatched, samples_come_with_the_clock_where_the_device_tells_one) {
  const auto device = open_device(test_device);
  ASSERT_TRUE(device) << device.error().message;
  const bool told = (*device)->condition().sm_clock_mhz > 0;
  TrialWorker worker({.words = {test_worker()}}, std::string(test_device), testing::TempDir(),
                     10'000ms);
  ASSERT_TRUE(worker.prepare({.rows = 8, .columns = 64}, {{8}}, Grade::exact));
  const auto samples = worker.sample({-1}, 0);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->condition.sm_clock_mhz > 0, told);
}

}  // namespace
}  // namespace normd
