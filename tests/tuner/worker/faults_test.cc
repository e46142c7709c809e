// Candidates that take their worker with them, hang, or ask for what is not there: each leaves its
// named reason and the next one is tried. Built twice: for the host device, and for the first GPU.
#include <gtest/gtest.h>

#include "tests/tuner/worker/mutants.h"
#include "tests/tuner/worker/test_worker.h"
#include "tuner/compiler/compiler.h"
#include "tuner/trial_worker.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class Worker : public testing::Test {
 protected:
  void SetUp() override { test_device_spec(); }

  void prepare() {
    const auto prepared = worker_.prepare(problem_, {{1}, {problem_.rows}}, Grade::exact);
    ASSERT_TRUE(prepared) << prepared.error().message;
  }
  TrialBench::Tried tried(int number, const std::vector<Change>& changes) {
    const Candidate candidate = candidate_of(problem_);
    auto binary = compile(mutant(problem_, candidate, changes));
    EXPECT_TRUE(binary) << binary.error().message;
    auto tried = worker_.try_candidate(
        number, {.candidate = candidate,
                 .binary = *binary,
                 .launch = launch_of(candidate, problem_, test_device_spec())});
    EXPECT_TRUE(tried) << tried.error().message;
    return *tried;
  }
  Problem problem_ = problem_of();
  TrialWorker worker_{
      {.words = {test_worker()}}, std::string(test_device), testing::TempDir(), 3000ms};
};

TEST_F(Worker, a_faulting_candidate_costs_one_worker_and_one_named_refusal) {
  prepare();
  EXPECT_EQ(tried(0, {}).verdict.kind, VerdictKind::measured);
  const auto faulty = tried(1, at_the_start("*(volatile int*)8 = 1;"));
  EXPECT_EQ(faulty.verdict.kind, VerdictKind::refused);
  EXPECT_EQ(faulty.verdict.reason, Reason::fault);
  EXPECT_EQ(worker_.restarts(), 1);
  // The candidate that had passed is loaded again and can be timed.
  const auto sample = worker_.sample({0, -1}, 0);
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_GT(sample->ns.front(), 0);
}

TEST_F(Worker, a_candidate_that_traps_costs_one_worker_and_one_named_refusal) {
  prepare();
  const std::string trap = test_device == "host" ? "__builtin_trap();" : "__trap();";
  const auto trapped = tried(0, at_the_start("if (arguments.rows > 0) " + trap));
  EXPECT_EQ(trapped.verdict.kind, VerdictKind::refused);
  EXPECT_EQ(trapped.verdict.reason, Reason::fault);
  EXPECT_EQ(worker_.restarts(), 1);
  EXPECT_EQ(tried(1, {}).verdict.kind, VerdictKind::measured);
}

// It says nothing of the candidate, and the next one is tried.
TEST_F(Worker, a_candidate_without_memory_for_its_workspace_is_not_tried) {
  prepare();
  const Candidate candidate = candidate_of(problem_);
  auto binary = compile(mutant(problem_, candidate, {}));
  ASSERT_TRUE(binary);
  Launch launch = launch_of(candidate, problem_, test_device_spec());
  launch.workspace_bytes = std::int64_t{1} << 40;
  const auto greedy =
      worker_.try_candidate(0, {.candidate = candidate, .binary = *binary, .launch = launch});
  ASSERT_TRUE(greedy) << greedy.error().message;
  EXPECT_EQ(greedy->verdict.kind, VerdictKind::not_tried);
  EXPECT_EQ(greedy->verdict.reason, Reason::out_of_memory);
  EXPECT_EQ(worker_.restarts(), 0);
  EXPECT_EQ(tried(1, {}).verdict.kind, VerdictKind::measured);
}

// From the third row on, packs of four cannot be counted in 32 bits.
TEST_F(Worker, a_row_offset_in_packs_in_32_bits_costs_one_worker_and_one_named_refusal) {
  problem_.rows_layout = RowsLayout::strided;
  prepare();
  const auto wild = tried(0, {x_row_offset("4LL * static_cast<int>(row * stride / 4)")});
  EXPECT_EQ(wild.verdict.kind, VerdictKind::refused);
  EXPECT_EQ(wild.verdict.reason, Reason::fault);
  EXPECT_EQ(worker_.restarts(), 1);
  EXPECT_EQ(tried(1, {}).verdict.kind, VerdictKind::measured);
}

TEST_F(Worker, a_hanging_candidate_costs_one_worker_and_one_named_refusal) {
  prepare();
  const auto hung = tried(
      0, at_the_start("while (*static_cast<const volatile unsigned char*>(arguments.x) < 256) {}"));
  EXPECT_EQ(hung.verdict.kind, VerdictKind::refused);
  EXPECT_EQ(hung.verdict.reason, Reason::timeout);
  EXPECT_EQ(worker_.restarts(), 1);
  EXPECT_EQ(tried(1, {}).verdict.kind, VerdictKind::measured);
}

TEST_F(Worker, a_launch_over_a_limit_is_refused_and_the_worker_lives_on) {
  prepare();
  const Candidate candidate = candidate_of(problem_);
  auto binary = compile(mutant(problem_, candidate, {}));
  ASSERT_TRUE(binary);
  Launch launch = launch_of(candidate, problem_, test_device_spec());
  launch.shared_bytes = 10 << 20;
  const auto tried =
      worker_.try_candidate(0, {.candidate = candidate, .binary = *binary, .launch = launch});
  ASSERT_TRUE(tried);
  EXPECT_EQ(tried->verdict.kind, VerdictKind::refused);
  // A GPU's driver says so of the kernel, the host device of its launch.
  EXPECT_EQ(reason_name(tried->verdict.reason),
            reason_name(test_device == "host" ? Reason::launch_error : Reason::load_error));
  EXPECT_EQ(worker_.restarts(), 0);
}

TEST_F(Worker, a_binary_whose_bytes_changed_is_refused_before_it_is_loaded) {
  prepare();
  const Candidate candidate = candidate_of(problem_);
  auto binary = compile(mutant(problem_, candidate, {}));
  ASSERT_TRUE(binary);
  binary->bytes[binary->bytes.size() / 2] ^= 1;
  const auto tried =
      worker_.try_candidate(0, {.candidate = candidate,
                                .binary = *binary,
                                .launch = launch_of(candidate, problem_, test_device_spec())});
  ASSERT_TRUE(tried);
  EXPECT_EQ(tried->verdict.reason, Reason::load_error);
}

TEST_F(Worker, a_device_that_is_not_there_is_an_error_in_words) {
  TrialWorker worker({.words = {test_worker()}}, "GPU-00000000-none", testing::TempDir());
  const auto prepared = worker.prepare(problem_, {{1}}, Grade::exact);
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("GPU-00000000-none"), std::string::npos);
}

}  // namespace
}  // namespace normd
