#include "kernels/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "kernels/arguments.h"
#include "kernels/catalog.h"
#include "kernels/digest.h"
#include "tests/kernels/catalog_samples.h"

namespace normd {
namespace {

using testing::HasSubstr;
using testing::Not;

const Problem problem = {.rows = 4096,
                         .columns = 1000,
                         .x = DType::bf16,
                         .y = DType::fp32,
                         .gamma = DType::fp16,
                         .beta = std::nullopt,
                         .stats = Stats::rstd};

DeviceSpec h200() {
  return *architecture_preset("sm_90");
}

Source default_source(const Problem& of, const DeviceSpec& spec) {
  return render(ranked_candidates(of, spec).front(), of, spec);
}

// A kernel that does not wait could read what the one ahead of it has not written yet.
TEST(SourceTest, a_launch_is_programmatic_where_its_text_waits_for_the_stream) {
  std::mt19937 random(announced_seed());
  std::set<bool> seen;
  const std::vector<DeviceSpec> specs = {*architecture_preset("sm_80"), h200(),
                                         *architecture_preset("sm_120"), host_device_spec()};
  for (const Sample& sample : covering(random, drawn_pool(random, specs, 12))) {
    const Launch launch = launch_of(sample.candidate, sample.problem, sample.spec);
    const bool newer = sample.spec.kind == DeviceKind::cuda && sample.spec.capability >= 90;
    EXPECT_EQ(launch.programmatic, newer && !launch.cooperative) << to_text(sample);
    const std::string text = render(sample.candidate, sample.problem, sample.spec).text;
    const std::size_t waits = text.find("normd::wait_for_stream();");
    if (launch.programmatic) {
      EXPECT_LT(waits, text.find("entry##_body(arguments);")) << text;
    }
    seen.insert(launch.programmatic);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(SourceTest, no_include_and_no_pragma_once_is_left) {
  for (const DeviceSpec& spec : {h200(), host_device_spec()}) {
    for (const Template& entry : catalog()) {
      Problem wide = problem;
      if (entry.name == "block_tiled") wide.columns = 100'000;
      if (entry.name == "phase_aligned") {
        wide.columns = 1001;
        wide.y = wide.x;
      }
      if (entry.name == "thread_rows") {
        wide.columns = 7;
        wide.y = wide.x;
      }
      if (entry.name.starts_with("cluster_") || entry.name == "grid_pipeline")
        wide.columns = 16'384;
      const auto candidates = enumerate(entry, wide, spec);
      ASSERT_FALSE(candidates.empty()) << entry.name;
      const Source source = render(candidates.front(), wide, spec);
      EXPECT_THAT(source.text, Not(HasSubstr("#include"))) << entry.name;
      EXPECT_THAT(source.text, Not(HasSubstr("#pragma once"))) << entry.name;
    }
    for (const Source& source :
         {render_any_columns(spec.architecture()), render_check_rows(spec.architecture())}) {
      EXPECT_THAT(source.text, Not(HasSubstr("#include"))) << source.entry;
    }
  }
}

TEST(SourceTest, everything_of_the_problem_but_rows_is_compiled_in) {
  const Source source = default_source(problem, h200());
  for (const char* line :
       {"constexpr long long columns = 1000;", "using x_type = bf16;", "using y_type = fp32;",
        "using gamma_type = fp16;", "using beta_type = none;", "constexpr bool has_gamma = true;",
        "constexpr bool has_beta = false;", "constexpr bool wants_mean = false;",
        "constexpr bool wants_rstd = true;", "constexpr bool rows_contiguous = true;",
        "constexpr int align_bytes = 16;", "constexpr int row_align_bytes = 16;",
        "constexpr int architecture = 90;"}) {
    EXPECT_THAT(source.text, HasSubstr(line));
  }
  EXPECT_THAT(source.text, Not(HasSubstr("4096")));
}

TEST(SourceTest, a_source_does_not_depend_on_rows) {
  std::mt19937 random(announced_seed());
  for (Sample& sample : covering(random, drawn_pool(random, {h200(), host_device_spec()}, 10))) {
    const Source before = render(sample.candidate, sample.problem, sample.spec);
    sample.problem.rows = 12345;
    const Source after = render(sample.candidate, sample.problem, sample.spec);
    ASSERT_EQ(before.text, after.text) << to_text(sample);
    ASSERT_EQ(before.digest, after.digest) << to_text(sample);
  }
}

TEST(SourceTest, axes_and_launch_are_constants_of_the_text) {
  const Candidate candidate = *parse_candidate(
      "block_registers threads=128 vector_bytes=16 rows_per_block=1 rows_per_group=1 "
      "threads_per_sm=0 x_evict_last=0");
  const Problem square = {.rows = 1, .columns = 1024, .x = DType::bf16, .y = DType::bf16};
  ASSERT_TRUE(validate(candidate, square, h200()));
  const Source source = render(candidate, square, h200());
  const Launch launch = launch_of(candidate, square, h200());
  for (const std::string& line :
       {std::string("constexpr int block_threads = 128;"),
        std::string("constexpr int threads = 128;"),
        std::string("constexpr int vector_bytes = 16;"),
        std::string("constexpr int rows_per_block = 1;"),
        std::string("constexpr int threads_per_sm = 0;"),
        "constexpr int shared_bytes = " + std::to_string(launch.shared_bytes) + ";"}) {
    EXPECT_THAT(source.text, HasSubstr(line));
  }
  EXPECT_THAT(source.text, HasSubstr("sizeof(normd::NormArguments) == " +
                                     std::to_string(sizeof(NormArguments))));
  EXPECT_THAT(source.text, HasSubstr("NORMD_OFFSET(normd::NormArguments, epsilon) == " +
                                     std::to_string(offsetof(NormArguments, epsilon))));
}

TEST(SourceTest, each_target_gets_its_own_platform_body) {
  const Source gpu = default_source(problem, h200());
  EXPECT_EQ(gpu.target, "sm_90");
  EXPECT_EQ(gpu.entry, "normd_kernel");
  EXPECT_THAT(gpu.text, HasSubstr("__syncthreads"));
  EXPECT_THAT(gpu.text, Not(HasSubstr("HostRuntime")));
  const Source host = default_source(problem, host_device_spec(h200()));
  EXPECT_EQ(host.target, "host");
  EXPECT_THAT(host.text, HasSubstr("constexpr int architecture = 0;"));
  EXPECT_THAT(host.text, HasSubstr("struct HostRuntime"));
  EXPECT_THAT(host.text, Not(HasSubstr("__syncthreads")));
}

TEST(SourceTest, options_allow_no_shortcut_in_arithmetic) {
  const Source source = default_source(problem, h200());
  EXPECT_THAT(source.options, testing::IsSupersetOf({"--ftz=false", "--prec-div=true",
                                                     "--prec-sqrt=true", "--fmad=false"}));
  for (const std::string& option : source.options) {
    EXPECT_THAT(option, Not(HasSubstr("fast")));
    EXPECT_THAT(option, Not(HasSubstr("arch")));  // the target is a field of its own
  }
}

TEST(SourceTest, the_digest_names_text_entry_target_and_options) {
  std::set<std::string> digests;
  std::size_t sources = 0;
  for (const std::string& target : supported_architectures()) {
    const DeviceSpec spec = *architecture_preset(target);
    for (const Candidate& candidate : ranked_candidates(problem, spec)) {
      digests.insert(render(candidate, problem, spec).digest);
      ++sources;
    }
    digests.insert(render_any_columns(target).digest);
    digests.insert(render_check_rows(target).digest);
    sources += 2;
  }
  EXPECT_EQ(digests.size(), sources);
  EXPECT_EQ(digests.begin()->size(), 64u);
  const Source source = default_source(problem, h200());
  EXPECT_EQ(source.digest, default_source(problem, h200()).digest);
}

TEST(SourceTest, templates_have_distinct_digests_that_cover_their_pieces) {
  std::set<std::string> digests;
  for (const Template& entry : catalog()) digests.insert(template_digest(entry.name));
  digests.insert(template_digest("any_columns"));
  digests.insert(template_digest("check_rows"));
  EXPECT_EQ(digests.size(), catalog().size() + 2);
  // More than the one file: the pieces that it includes are in it.
  EXPECT_NE(template_digest("sub_warp"), sha256_hex(find_template("sub_warp")->text));
}

}  // namespace
}  // namespace normd
