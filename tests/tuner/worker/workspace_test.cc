// Kernels with a workspace go through the gate and under the clock with one of their own, which is
// guarded like every other buffer. Built twice: for the host device, and for the first GPU.
#include <gtest/gtest.h>

#include "tests/tuner/worker/mutants.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

Problem problem_with(RowsLayout layout) {
  return {.rows = 40,
          .columns = 8192,
          .gamma = DType::fp32,
          .stats = Stats::mean_rstd,
          .rows_layout = layout,
          .align_bytes = 16};
}

// With several rows at once in each block.
Candidate candidate_with_workspace(const std::string& template_name, const Problem& problem) {
  for (const Candidate& candidate :
       enumerate(*find_template(template_name), problem, test_device_spec())) {
    if (candidate.value("rows_per_block") == 2 &&
        launch_of(candidate, problem, test_device_spec()).workspace_bytes > 0) {
      return candidate;
    }
  }
  return {};
}

class WorkspaceTest : public testing::Test {
 protected:
  void SetUp() override { open("grid_pipeline"); }

  void open(const std::string& template_name, RowsLayout layout = RowsLayout::contiguous) {
    problem_ = problem_with(layout);
    candidate_ = candidate_with_workspace(template_name, problem_);
    if (candidate_.values.empty()) GTEST_SKIP() << "this device has no bulk copies";
    auto bench = TrialBench::open(test_device, testing::TempDir());
    ASSERT_TRUE(bench) << bench.error().message;
    bench_ = std::move(*bench);
    const auto prepared = bench_->prepare(problem_, {{1}, {problem_.rows}}, Grade::exact);
    ASSERT_TRUE(prepared) << prepared.error().message;
  }

  Verdict verdict_of(const std::vector<Change>& changes) {
    const auto binary = compile(mutant(problem_, candidate_, changes));
    EXPECT_TRUE(binary) << binary.error().message;
    const Launch launch = launch_of(candidate_, problem_, test_device_spec());
    EXPECT_GT(launch.workspace_bytes, 0);
    return bench_->try_candidate(0, candidate_, *binary, launch, false).verdict;
  }

  Problem problem_;
  Candidate candidate_;
  std::unique_ptr<TrialBench> bench_;
};

class EveryWorkspaceTest : public WorkspaceTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { open(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(templates, EveryWorkspaceTest,
                         testing::Values("grid_pipeline", "cluster_pipeline"),
                         [](const auto& name) { return name.param; });

TEST_P(EveryWorkspaceTest, lasts_through_the_gate_and_all_samples) {
  const Verdict verdict = verdict_of({});
  ASSERT_EQ(verdict.kind, VerdictKind::measured) << verdict.detail;
  for (int turn = 0; turn < 2; ++turn) {
    for (const std::size_t edge : {std::size_t{0}, std::size_t{1}}) {
      const auto timed = bench_->sample({0}, edge);
      ASSERT_TRUE(timed) << timed.error().message;
      EXPECT_GT(timed->ns.front(), 0);
    }
  }
}

// A few of them lie 2^32 elements apart.
TEST_P(EveryWorkspaceTest, serves_strided_rows) {
  ASSERT_NO_FATAL_FAILURE(open(GetParam(), RowsLayout::strided));
  const Verdict verdict = verdict_of({});
  EXPECT_EQ(verdict.kind, VerdictKind::measured) << verdict.detail;
}

TEST_F(WorkspaceTest, a_write_beyond_the_workspace_is_refused) {
  const Verdict verdict =
      verdict_of({{"leave_to_next(&mailbox.turns,", "leave_to_next(&mailbox.turns + 16,"}});
  EXPECT_EQ(verdict.kind, VerdictKind::refused);
  EXPECT_EQ(reason_name(verdict.reason), reason_name(Reason::guard_overwritten)) << verdict.detail;
  EXPECT_NE(verdict.detail.find("workspace"), std::string::npos) << verdict.detail;
}

}  // namespace
}  // namespace normd
