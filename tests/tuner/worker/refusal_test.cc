// What a refused candidate leaves behind: nothing for the next one. And when a refusal is believed:
// when two processes gave it.
#include <unistd.h>

#include "tests/tuner/worker/mutants.h"
#include "tests/tuner/worker/test_worker.h"
#include "tuner/compiler/compiler.h"
#include "tuner/trial_worker.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

// Once per launch, before the first row is read.
std::vector<Change> once_at_the_start(const std::string& statement) {
  return at_the_start("if (block_index() == 0 && thread_index() == 0) { " + statement +
                      " }\nblock_barrier();");
}

std::vector<Change> once_at_the_end(const std::string& statement) {
  return at_the_end("if (arguments.x != arguments.y && row == 0) { " + statement + " }");
}

class Refused : public testing::Test {
 protected:
  void SetUp() override { test_device_spec(); }

  Binary compiled(const std::vector<Change>& changes) {
    auto binary = compile(mutant(problem_, candidate_, changes));
    EXPECT_TRUE(binary) << binary.error().message;
    return binary.value_or(Binary{});
  }

  const Problem problem_ = problem_of();
  const std::vector<MeasuredEdge> edges_ = {{1}, {problem_.rows}};
  const Candidate candidate_ = candidate_of(problem_);
  const Launch launch_ = launch_of(candidate_, problem_, test_device_spec());
};

class RefusedOnABench : public Refused {
 protected:
  void SetUp() override {
    Refused::SetUp();
    auto bench = TrialBench::open(test_device, testing::TempDir());
    ASSERT_TRUE(bench) << bench.error().message;
    bench_ = std::move(*bench);
    const auto prepared = bench_->prepare(problem_, edges_, Grade::exact);
    ASSERT_TRUE(prepared) << prepared.error().message;
  }
  Verdict verdict_of(const std::vector<Change>& changes) {
    return bench_->try_candidate(0, candidate_, compiled(changes), launch_, false).verdict;
  }
  std::unique_ptr<TrialBench> bench_;
};

TEST_F(RefusedOnABench, an_overwriting_candidate_spoils_nothing_for_the_next_one) {
  const std::string writes[] = {
      "const_cast<x_type*>(x_row(arguments, 0))[0] = x_type{};",
      "static_cast<float*>(const_cast<void*>(arguments.gamma))[3] = 7;",
      "static_cast<float*>(const_cast<void*>(arguments.beta))[1000] = 7;",
      "const_cast<x_type*>(x_row(arguments, 0))[-1] = x_type{};",
      // Two guards at once.
      "arguments.mean[-1] = 0; arguments.rstd[-1] = 0;",
  };
  for (const std::string& write : writes) {
    EXPECT_EQ(verdict_of(once_at_the_end(write)).kind, VerdictKind::refused) << write;
    const Verdict next = verdict_of({});
    EXPECT_EQ(next.kind, VerdictKind::measured) << "after " << write << ": " << next.detail;
  }
}

// The checker reads x as it is: a change that comes before the reading is no wrong result to it.
TEST_F(RefusedOnABench, an_input_that_changes_only_at_a_measured_row_count_is_seen) {
  const Verdict verdict = verdict_of(once_at_the_start(
      "if (arguments.rows == 5) const_cast<x_type*>(x_row(arguments, 3))[7] = x_type{};"));
  EXPECT_EQ(verdict.kind, VerdictKind::refused);
  EXPECT_EQ(reason_name(verdict.reason), reason_name(Reason::input_overwritten)) << verdict.detail;
  EXPECT_NE(verdict.detail.find("5 rows"), std::string::npos) << verdict.detail;
  EXPECT_EQ(verdict_of({}).kind, VerdictKind::measured);
}

class RefusedByAWorker : public Refused {
 protected:
  void SetUp() override {
    Refused::SetUp();
    const auto prepared = worker_.prepare(problem_, edges_, Grade::exact);
    ASSERT_TRUE(prepared) << prepared.error().message;
  }
  TrialBench::Tried tried(int number, const std::vector<Change>& changes) {
    auto tried = worker_.try_candidate(number, {candidate_, compiled(changes), launch_});
    EXPECT_TRUE(tried) << tried.error().message;
    return tried.value_or(TrialBench::Tried{});
  }
  TrialWorker worker_{
      {.words = {test_worker()}}, std::string(test_device), testing::TempDir(), 10'000ms};
};

TEST_F(RefusedByAWorker, wrong_bytes_are_seen_by_two_processes) {
  const auto wrong = tried(0, wrong_epsilon);
  EXPECT_EQ(wrong.verdict.reason, Reason::wrong_result) << wrong.verdict.detail;
  EXPECT_EQ(wrong.sightings, 2);
  EXPECT_EQ(worker_.restarts(), 1);
  EXPECT_EQ(tried(1, {}).verdict.kind, VerdictKind::measured);
  EXPECT_EQ(worker_.restarts(), 1);
}

TEST_F(RefusedByAWorker, more_wrong_candidates_than_a_worker_may_die_end_no_tuning) {
  const auto wrong = once_at_the_end("const_cast<x_type*>(x_row(arguments, 0))[0] = x_type{};");
  for (int number = 0; number < 10; ++number) EXPECT_EQ(tried(number, wrong).sightings, 2);
  EXPECT_EQ(tried(10, {}).verdict.kind, VerdictKind::measured);
}

// Wrong in the first process only, as by a spoilt one; a file tells them apart.
TEST_F(RefusedByAWorker, wrong_bytes_that_do_not_repeat_are_refused_and_not_settled) {
  if (test_device != "host") GTEST_SKIP() << "a kernel that reads files runs on the host only";
  const std::string mark = testing::TempDir() + "refused-once-" + std::to_string(::getpid());
  const std::vector<Change> once = {
      {"NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {",
       "extern \"C\" int access(const char*, int);\nextern \"C\" int "
       "creat(const char*, unsigned);\n"
       "NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_wanted) {\n"
       "if (access(\"" +
           mark + "\", 0) != 0) { if (thread_index() == 0) creat(\"" + mark +
           "\", 0600); return; }"}};
  const auto refused = tried(0, once);
  ::unlink(mark.c_str());
  EXPECT_EQ(refused.verdict.kind, VerdictKind::refused);
  EXPECT_EQ(refused.sightings, 1);
  // What the second process took in is gone again.
  EXPECT_FALSE(worker_.sample({0}, 0));
}

}  // namespace
}  // namespace normd
