// Tensors that begin on an element and no better, x and y each on another one: every exact template
// on the host device gives the reference's answer, reads and writes nothing outside, and the same
// bits wherever y begins.
#include <gtest/gtest.h>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/kernels/template_names.h"
#include "tests/tuner/device/host_bench.h"
#include "tuner/compiler/host_compiler.h"

namespace normd {
namespace {

constexpr int access_bytes = 16;

Problem problem_of(std::int64_t columns, DType dtype) {
  return {.rows = 21,
          .columns = columns,
          .x = dtype,
          .y = dtype,
          .gamma = dtype,
          .beta = DType::fp32,
          .stats = Stats::mean_rstd,
          .align_bytes = static_cast<int>(size_bytes(dtype))};
}

int places_of(const Problem& problem) {
  return access_bytes / static_cast<int>(size_bytes(problem.x));
}

class ShiftedTensors : public testing::TestWithParam<std::string> {
 protected:
  HostBench::Kernels build(const Candidate& candidate, const Problem& problem,
                           const Source& source) {
    const auto binary = compile_with_host_compiler(source);
    EXPECT_TRUE(binary) << to_text(candidate) << ": " << binary.error().message;
    if (!binary) return {};
    return bench_.load(*binary, launch_of(candidate, problem, bench_.device().spec()));
  }

  HostBench bench_{20261130};
};

// Rows of a few elements, and widths of as many phases as a pack has elements, of fewer, and of
// one.
TEST_P(ShiftedTensors, are_normalised_as_any_others_wherever_each_begins) {
  int tried = 0;
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const std::int64_t columns : {7, 131, 140, 1024}) {
      const Problem problem = problem_of(columns, dtype);
      const auto candidates =
          enumerate(*find_template(GetParam()), problem, bench_.device().spec());
      if (candidates.empty()) continue;
      const Candidate& candidate = candidates[candidates.size() / 2];
      const auto kernels =
          build(candidate, problem, render(candidate, problem, bench_.device().spec()));
      if (!kernels[0]) continue;
      NormInputs inputs = make_inputs(problem, Grade::exact, 4);
      for (int x = 0; x < places_of(problem); ++x) {
        for (int y = 0; y < places_of(problem); ++y) {
          inputs.begins = {.x = x, .gamma = (x + y) % 4, .beta = (x + 2 * y) % 4, .y = y};
          bench_.run_and_compare(kernels, inputs, {},
                                 to_text(candidate) + " for " + to_text(problem) + ", x " +
                                     std::to_string(x) + " and y " + std::to_string(y) +
                                     " elements on");
        }
      }
      ++tried;
    }
  }
  EXPECT_TRUE(GetParam() != "phase_aligned" || tried == 6) << tried;
  if (tried == 0) GTEST_SKIP() << "takes no rows of these widths that begin on an element";
}

INSTANTIATE_TEST_SUITE_P(catalog, ShiftedTensors, testing::ValuesIn(exact_template_names()),
                         [](const auto& name) { return name.param; });

// That the test above would see it.
class WrongPhase : public ShiftedTensors {
 protected:
  // Whether the changed text is found out, of x and y so many elements on.
  bool is_found_out(const std::string& from, const std::string& to, int x, int y) {
    const Problem problem = problem_of(131, DType::bf16);
    const Candidate candidate =
        enumerate(*find_template("phase_aligned"), problem, bench_.device().spec()).front();
    Source source = render(candidate, problem, bench_.device().spec());
    const std::size_t at = source.text.find(from);
    EXPECT_NE(at, std::string::npos) << "the text has no '" << from << "': mend this test";
    if (at == std::string::npos) return false;
    source.text.replace(at, from.size(), to);
    const auto kernels = build(candidate, problem, source);
    if (!kernels[0]) return false;
    NormInputs inputs = make_inputs(problem, Grade::exact, 0);
    inputs.begins = {.x = x, .y = y};
    const auto outputs = run_guarded(bench_.device(), *kernels[0], inputs, Place::apart);
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return false;
    return !outputs->damage.empty() ||
           !compare(problem, inputs.tensors(), outputs->tensors(), {}, 0, problem.rows)
                .failure.empty();
  }
};

TEST_F(WrongPhase, is_found_out_where_the_first_access_begins_before_the_tensor) {
  const std::string whole = "(pack - first_behind) % pack";
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(is_found_out(whole, "-first_behind", 6, 6), "AddressSanitizer");
#else
  EXPECT_TRUE(is_found_out(whole, "-first_behind", 6, 6));
#endif
  EXPECT_FALSE(is_found_out(whole, whole, 6, 6));
}

TEST_F(WrongPhase, is_found_out_where_gamma_is_not_shifted_as_the_rows_are) {
  EXPECT_TRUE(is_found_out("from_two(first[b], second[b], behind)",
                           "from_two(first[b], second[b], 0)", 2, 2));
}

TEST_F(WrongPhase, is_found_out_where_y_lies_otherwise_than_it_is_taken_to) {
  const std::string own = "const int own = count - behind;";
  EXPECT_TRUE(is_found_out(own, "const int own = behind;", 1, 4));
  EXPECT_FALSE(is_found_out(own, own, 1, 4));
}

TEST_F(WrongPhase, is_found_out_where_an_element_behind_the_packs_is_left_out) {
  EXPECT_TRUE(is_found_out("return column < row_columns ? column : -1;",
                           "return column < row_columns - 1 ? column : -1;", 0, 0));
}

}  // namespace
}  // namespace normd
