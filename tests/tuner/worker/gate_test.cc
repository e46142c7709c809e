// The gate against kernels that are wrong on purpose: each mutant is a real template
// text with one change. None may pass, each leaves its own reason. Built twice: for the host
// device, and for the first GPU.
#include "tuner/worker/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/tuner/worker/mutants.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

class Gate : public testing::Test {
 protected:
  void SetUp() override { test_device_spec(); }  // ends the program where there is no such device

  Verdict verdict_of(const std::vector<Change>& changes, const Problem& problem = problem_of()) {
    auto bench = TrialBench::open(test_device, testing::TempDir());
    EXPECT_TRUE(bench) << bench.error().message;
    const auto prepared = (*bench)->prepare(problem, {{1}, {problem.rows}}, Grade::exact);
    EXPECT_TRUE(prepared) << prepared.error().message;
    const Candidate candidate = candidate_of(problem);
    const auto binary = compile(mutant(problem, candidate, changes));
    EXPECT_TRUE(binary) << binary.error().message;
    if (!binary) return {};
    return (*bench)
        ->try_candidate(0, candidate, *binary, launch_of(candidate, problem, test_device_spec()),
                        false)
        .verdict;
  }
  void expect_refused(Reason reason, const std::vector<Change>& changes,
                      const Problem& problem = problem_of()) {
    const Verdict verdict = verdict_of(changes, problem);
    EXPECT_EQ(verdict.kind, VerdictKind::refused);
    EXPECT_EQ(reason_name(verdict.reason), reason_name(reason)) << verdict.detail;
    EXPECT_FALSE(verdict.detail.empty());
  }
};

TEST_F(Gate, the_unchanged_text_passes_in_every_dtype_and_layout) {
  for (const DType dtype : all_dtypes) {
    for (const RowsLayout layout : {RowsLayout::contiguous, RowsLayout::strided}) {
      Problem problem = problem_of(dtype, layout);
      const Verdict verdict = verdict_of({}, problem);
      EXPECT_EQ(verdict.kind, VerdictKind::measured) << to_text(problem) << ": " << verdict.detail;
      EXPECT_GT(verdict.error_over_bound, 0);
      EXPECT_LE(verdict.error_over_bound, 1);
    }
  }
}

TEST_F(Gate, a_tail_that_ends_one_element_early_is_an_unwritten_output) {
  expect_refused(
      Reason::unwritten_output,
      {{"if (column + k < row_columns) to[k] = y", "if (column + k < row_columns - 1) to[k] = y"}},
      problem_of(DType::fp32, RowsLayout::strided));
}

TEST_F(Gate, an_overrun_by_one_element_is_refused) {
  // Between strided rows lies poison that must stay.
  expect_refused(
      Reason::guard_overwritten,
      {{"if (column + k < row_columns) to[k] = y", "if (column + k <= row_columns) to[k] = y"}},
      problem_of(DType::fp32, RowsLayout::strided));
}

// On a GPU the warps may happen to wait for each other.
class GateOnTheHost : public Gate {
 protected:
  void SetUp() override {
    if (test_device != "host") GTEST_SKIP() << "on a GPU the warps may happen to wait";
    Gate::SetUp();
  }
  void expect_refused_in_every_dtype(const std::vector<Change>& changes) {
    for (const DType dtype : all_dtypes) {
      const Verdict verdict = verdict_of(changes, problem_of(dtype));
      EXPECT_EQ(verdict.kind, VerdictKind::refused) << dtype_name(dtype);
      EXPECT_FALSE(verdict.detail.empty());
    }
  }
};

TEST_F(Gate, missing_barriers_are_refused) {
  const Verdict verdict = verdict_of({{" barrier.wait();", " ;"}});
  EXPECT_EQ(verdict.kind, VerdictKind::refused);
}

TEST_F(GateOnTheHost, a_missing_barrier_of_the_sums_is_refused_in_every_dtype) {
  expect_refused_in_every_dtype({{" barrier.wait();", " ;"}});
}

// The sums of a second pass would be written where others still read those of the first.
TEST_F(GateOnTheHost, sums_that_go_to_one_side_of_the_scratch_are_refused) {
  expect_refused_in_every_dtype({{"side ^= 1;", ""}});
}

// The variance is the mean of the squares less the square of the mean then.
TEST_F(Gate, a_second_pass_that_never_comes_is_a_wrong_result_in_every_dtype) {
  for (const DType dtype : all_dtypes) {
    expect_refused(Reason::wrong_result, {no_second_pass}, problem_of(dtype));
  }
}

TEST_F(Gate, a_wrong_epsilon_is_a_wrong_result) {
  expect_refused(Reason::wrong_result, wrong_epsilon);
}

TEST_F(Gate, swapped_gamma_and_beta_are_a_wrong_result) {
  expect_refused(Reason::wrong_result, {{"scale[k], offset[k]", "offset[k], scale[k]"}});
}

TEST_F(Gate, every_second_row_left_out_is_an_unwritten_output) {
  expect_refused(Reason::unwritten_output,
                 {{"rows.store(first, affine);", "if (row % 2 == 0) rows.store(first, affine);"}});
}

TEST_F(Gate, a_kernel_that_returns_at_once_is_an_unwritten_output) {
  expect_refused(Reason::unwritten_output, at_the_start("if (arguments.rows > 0) return;"));
}

TEST_F(Gate, a_text_that_reads_x_again_after_writing_y_fails_in_place) {
  expect_refused(Reason::not_repeatable,
                 {{"rows.store(first, affine);",
                   "for (int k = member; k < row_columns; k += row_threads) y_row(arguments, "
                   "row)[k] = y_type{};\n"
                   "block_barrier();\nrows.load();\nrows.store(first, affine);"}});
}

TEST_F(Gate, a_write_to_x_out_of_place_is_refused) {
  expect_refused(Reason::input_overwritten,
                 at_the_end("if (arguments.x != arguments.y && row == 0) "
                            "const_cast<x_type*>(x_row(arguments, row))[0] = x_type{};"));
}

TEST_F(Gate, a_mean_that_is_not_corrected_is_a_wrong_result) {
  expect_refused(Reason::wrong_result, {{"arguments.mean[row] = moments.mean;",
                                         "arguments.mean[row] = moments.mean * 1.00001f;"}});
}

// Every row past the first lies beyond 32 bits, of elements and of bytes. What is cut lands beside
// the first row: another row is read then, or one is left out.
TEST_F(Gate, a_row_offset_of_x_in_32_bits_is_a_wrong_result) {
  for (const char* cut : {"static_cast<int>(row * stride)", "static_cast<unsigned>(row * stride)",
                          "row * static_cast<int>(stride)"}) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      expect_refused(Reason::wrong_result, {x_row_offset(cut)},
                     problem_of(dtype, RowsLayout::strided));
    }
  }
}

TEST_F(Gate, a_row_offset_of_y_in_32_bits_is_an_unwritten_output) {
  for (const char* cut : {"static_cast<int>(row * stride)", "static_cast<unsigned>(row * stride)",
                          "row * static_cast<int>(stride)"}) {
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      expect_refused(Reason::unwritten_output, {y_row_offset(cut)},
                     problem_of(dtype, RowsLayout::strided));
    }
  }
}

bool says_once(const std::string& said) {
  const std::string words = "row offsets beyond 32 bits are not checked";
  const std::size_t at = said.find(words);
  return at != std::string::npos && said.find(words, at + 1) == std::string::npos;
}

// As on a device without sparse memory, by a process that may not have so many addresses.
void try_a_cut_offset_twice_with_few_addresses(const Problem& problem, const Binary& binary) {
  const rlimit few{.rlim_cur = std::size_t{64} << 30, .rlim_max = std::size_t{64} << 30};
  if (::setrlimit(RLIMIT_AS, &few) != 0) std::exit(2);
  auto bench = TrialBench::open(test_device, testing::TempDir());
  if (!bench) std::exit(3);
  const Candidate candidate = candidate_of(problem);
  const Launch launch = launch_of(candidate, problem, test_device_spec());
  for (int time = 0; time < 2; ++time) {
    if (!(*bench)->prepare(problem, {{1}, {problem.rows}}, Grade::exact)) std::exit(4);
    const auto tried = (*bench)->try_candidate(0, candidate, binary, launch, false);
    if (tried.verdict.kind != VerdictKind::measured) std::exit(5);
  }
  std::exit(0);
}

// The mutant passes then: nothing else in the gate exposes it.
TEST_F(GateOnTheHost, where_there_is_no_sparse_memory_far_rows_are_left_out_and_that_is_said_once) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer takes more addresses than this test leaves";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Problem problem = problem_of(DType::fp32, RowsLayout::strided);
  const auto binary = compile(
      mutant(problem, candidate_of(problem), {x_row_offset("static_cast<int>(row * stride)")}));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EXIT(try_a_cut_offset_twice_with_few_addresses(problem, *binary),
              testing::ExitedWithCode(0), testing::Truly(says_once));
}

}  // namespace
}  // namespace normd
