// Every template compiles for every architecture, without a GPU: a covering sample of a drawn pool
// by default, all of it with NORMD_TEST_LONG=1.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/limits.h"
#include "kernels/source.h"
#include "tests/kernels/catalog_samples.h"
#include "tuner/compiler/nvrtc_compiler.h"

namespace normd {
namespace {

// The NVRTC that the search finds, and a pinned older one where the environment names its file.
std::vector<std::string> libraries_to_test() {
  std::vector<std::string> paths = {""};
  if (const char* pinned = std::getenv("NORMD_TEST_NVRTC_12")) paths.emplace_back(pinned);
  return paths;
}

std::vector<DeviceSpec> gpu_specs() {
  std::vector<DeviceSpec> specs;
  for (const std::string& name : supported_architectures()) {
    specs.push_back(*architecture_preset(name));
  }
  return specs;
}

class TemplatesNvrtcTest : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    const auto opened = open_nvrtc();
    if (opened) return;
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    std::exit(77);  // CTest shows it as skipped
  }
  void SetUp() override {
    const auto opened = open_nvrtc(GetParam());
    ASSERT_TRUE(opened) << opened.error().message;
    library_ = *opened;
  }
  NvrtcLibrary library_;
};

TEST_P(TemplatesNvrtcTest, every_template_dtype_axis_value_and_architecture_compiles) {
  std::mt19937 random(announced_seed());
  std::vector<Sample> samples = drawn_pool(random, gpu_specs(), long_run() ? 60 : 10);
  if (!long_run()) samples = covering(random, std::move(samples));
  std::printf("%zu candidates by %s\n", samples.size(), library_.name().c_str());
  for (const Sample& sample : samples) {
    const auto binary =
        compile_with_nvrtc(library_, render(sample.candidate, sample.problem, sample.spec));
    ASSERT_TRUE(binary) << to_text(sample) << "\n" << binary.error().message;
    EXPECT_EQ(binary->target, sample.spec.architecture());
    EXPECT_GT(binary->registers, 0) << to_text(sample);
  }
}

TEST_P(TemplatesNvrtcTest, the_default_candidate_spills_no_more_than_a_tuning_takes) {
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    const DeviceSpec spec = *architecture_preset(architecture);
    for (const DType dtype : {DType::bf16, DType::fp32}) {
      for (const std::int64_t columns : {64, 384, 1024, 4096, 8192, 16384, 65536}) {
        const Problem problem = {.rows = 4096,
                                 .columns = columns,
                                 .x = dtype,
                                 .y = dtype,
                                 .gamma = dtype,
                                 .beta = dtype};
        const Candidate candidate = ranked_candidates(problem, spec).front();
        const auto binary = compile_with_nvrtc(library_, render(candidate, problem, spec));
        ASSERT_TRUE(binary) << binary.error().message;
        EXPECT_LE(binary->spill_bytes, limits::spill_bytes_max)
            << to_text(candidate) << " for " << to_text(problem) << " on " << architecture;
      }
    }
  }
}

// The build compiles both for every architecture; here they are watched for spills, and compiled by
// the pinned NVRTC too.
TEST_P(TemplatesNvrtcTest, the_fallback_and_the_checker_compile_and_the_fallback_spills_nothing) {
  std::vector<std::string> targets = {"sm_75", "sm_90", "sm_120"};
  if (long_run()) targets = supported_architectures();
  for (const std::string& target : targets) {
    for (const Source& source : {render_any_columns(target), render_check_rows(target)}) {
      const auto binary = compile_with_nvrtc(library_, source);
      ASSERT_TRUE(binary) << target << "\n" << binary.error().message;
      // The checker's time does not matter.
      const bool timed = source.entry != "normd_check_rows";
      EXPECT_TRUE(!timed || binary->spill_bytes == 0) << source.entry << " for " << target;
    }
  }
}

// The text's own asserts are what stands between a wrong launch and a wrong answer.
TEST_P(TemplatesNvrtcTest, a_text_whose_launch_numbers_disagree_does_not_compile) {
  const DeviceSpec spec = *architecture_preset("sm_90");
  const Problem problem = {.rows = 64, .columns = 4096};
  Source source = render(ranked_candidates(problem, spec).front(), problem, spec);
  const auto spoil = [&](std::string_view from, std::string_view to) {
    Source spoilt = source;
    const std::size_t at = spoilt.text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    spoilt.text.replace(at, from.size(), to);
    return compile_with_nvrtc(library_, spoilt);
  };
  EXPECT_FALSE(spoil("constexpr int rows_per_block = ", "constexpr int rows_per_block = 3 + "));
  EXPECT_FALSE(spoil("constexpr int shared_bytes = ", "constexpr int shared_bytes = 16 + "));
  EXPECT_FALSE(spoil("float epsilon;", "double epsilon;"));
  EXPECT_TRUE(compile_with_nvrtc(library_, source));
}

INSTANTIATE_TEST_SUITE_P(libraries, TemplatesNvrtcTest, testing::ValuesIn(libraries_to_test()),
                         [](const auto& parameter) {
                           return parameter.param.empty() ? std::string("found")
                                                          : std::string("pinned");
                         });

}  // namespace
}  // namespace normd
