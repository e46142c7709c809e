#include "tuner/compiler/nvrtc_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/digest.h"
#include "tuner/compiler/compiler.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Source source_of(const std::string& text, const std::string& target) {
  return {
      .text = text, .entry = "add_one", .target = target, .options = {}, .digest = "of the text"};
}

const char* const good_text =
    "extern \"C\" __global__ void add_one(float* x) { x[threadIdx.x] += 1.0f; }\n";

// Indexed with a run-time value, so that the array cannot stay in registers; the launch bound
// leaves too few for what does.
const char* const hungry_text =
    "extern \"C\" __global__ void __launch_bounds__(1024, 2) add_one(float* x) {\n"
    "  float values[96];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; ++i) values[i] = x[i * 1024 + threadIdx.x];\n"
    "  __syncthreads();\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; ++i) x[i * 1024 + threadIdx.x] = values[95 - i] * values[i];\n"
    "}\n";

// The NVRTC that the search finds, and a pinned older one where the environment names its file.
std::vector<std::string> libraries_to_test() {
  std::vector<std::string> paths = {""};
  if (const char* pinned = std::getenv("NORMD_TEST_NVRTC_12")) paths.emplace_back(pinned);
  return paths;
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "normd_nvrtc_XXXXXX";
};

class NvrtcTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto opened = open_nvrtc(GetParam());
    ASSERT_TRUE(opened) << opened.error().message;
    library_ = *opened;
  }
  NvrtcLibrary library_;
};

TEST_P(NvrtcTest, every_supported_architecture_gets_its_own_cubin) {
  for (const std::string& target : supported_architectures()) {
    const auto binary = compile_with_nvrtc(library_, source_of(good_text, target));
    ASSERT_TRUE(binary) << binary.error().message;
    EXPECT_EQ(binary->format, BinaryFormat::cubin);
    EXPECT_EQ(binary->target, target);
    EXPECT_EQ(binary->bytes.substr(1, 3), "ELF");
    EXPECT_EQ(binary->digest, sha256_hex(binary->bytes));
    EXPECT_EQ(binary->source_digest, "of the text");
    EXPECT_EQ(binary->entry, "add_one");
    EXPECT_EQ(binary->compiler, library_.name());
    EXPECT_GT(binary->registers, 3);
    EXPECT_EQ(binary->spill_bytes, 0);
  }
}

TEST_P(NvrtcTest, the_same_source_gives_the_same_binary) {
  const auto once = compile_with_nvrtc(library_, source_of(good_text, "sm_90"));
  const auto again = compile_with_nvrtc(library_, source_of(good_text, "sm_90"));
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->digest, again->digest);
  EXPECT_EQ(once->log, again->log);
}

TEST_P(NvrtcTest, spilled_registers_are_counted) {
  const auto binary = compile_with_nvrtc(library_, source_of(hungry_text, "sm_90"));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_GT(binary->spill_bytes, 0) << binary->log;
  EXPECT_LE(binary->registers, 32);
}

TEST_P(NvrtcTest, a_target_newer_than_the_list_becomes_ptx_of_the_newest_and_the_log_says_so) {
  const auto binary = compile_with_nvrtc(library_, source_of(good_text, "sm_999"));
  ASSERT_TRUE(binary) << binary.error().message;
  const std::string newest = "compute_" + std::to_string(library_.architectures.back());
  EXPECT_EQ(binary->format, BinaryFormat::ptx);
  EXPECT_EQ(binary->target, newest);
  EXPECT_THAT(binary->bytes, HasSubstr(".visible .entry add_one"));
  EXPECT_NE(binary->bytes.back(), '\0');
  EXPECT_THAT(binary->log, AllOf(HasSubstr("sm_999"), HasSubstr(newest)));
}

TEST_P(NvrtcTest, ptx_can_be_asked_for) {
  const auto binary = compile_with_nvrtc(library_, source_of(good_text, "compute_120"));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(binary->format, BinaryFormat::ptx);
  EXPECT_EQ(binary->target, "compute_120");
  EXPECT_EQ(binary->log.find("unknown"), std::string::npos);
}

TEST_P(NvrtcTest, a_target_older_than_the_list_is_refused_with_version_path_and_list) {
  const auto binary = compile_with_nvrtc(library_, source_of(good_text, "sm_21"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(binary.error().message, AllOf(HasSubstr("sm_21"), HasSubstr(library_.name()),
                                            HasSubstr(library_.path), HasSubstr("sm_75, sm_80")));
}

TEST_P(NvrtcTest, a_malformed_target_is_an_invalid_argument) {
  for (const char* target : {"", "sm_", "sm_9x", "sm_-90", "90", "compute_", "sm_90 "}) {
    const auto binary = compile_with_nvrtc(library_, source_of(good_text, target));
    ASSERT_FALSE(binary) << target;
    EXPECT_EQ(binary.error().code, ErrorCode::invalid_argument) << target;
  }
}

TEST_P(NvrtcTest, a_text_that_does_not_compile_is_an_invalid_argument_with_the_log) {
  const auto binary =
      compile_with_nvrtc(library_, source_of("__global__ void add_one() { nowhere(); }", "sm_90"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(binary.error().message, AllOf(HasSubstr("sm_90"), HasSubstr("add_one.cu(1)"),
                                            HasSubstr("identifier \"nowhere\" is undefined")));
}

TEST_P(NvrtcTest, an_option_it_does_not_know_is_no_fault_of_the_text) {
  Source source = source_of(good_text, "sm_90");
  source.options = {"--no-such-option"};
  const auto binary = compile_with_nvrtc(library_, source);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(binary.error().message, HasSubstr("no-such-option"));
}

TEST_P(NvrtcTest, an_option_with_a_space_and_an_accent_stays_whole) {
  Source source = source_of(good_text, "sm_90");
  source.options = {"-I/no/such/a b \u00e9"};
  const auto binary = compile_with_nvrtc(library_, source);
  EXPECT_TRUE(binary) << binary.error().message;
}

TEST_P(NvrtcTest, threads_compile_at_the_same_time) {
  std::vector<std::string> digests(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& digest : digests) {
      threads.emplace_back([&digest, this] {
        const auto binary = compile_with_nvrtc(library_, source_of(good_text, "sm_80"));
        if (binary) digest = binary->digest;
      });
    }
  }
  EXPECT_FALSE(digests[0].empty());
  for (const std::string& digest : digests) EXPECT_EQ(digest, digests[0]);
}

// Compiles with the library that is alone in its folder, in a process that has opened no other.
void compile_with_lone_library() {
  const auto binary = compile(source_of(good_text, "sm_90"),
                              {.nvrtc_library = std::getenv("NORMD_TEST_LONE_NVRTC")});
  if (binary) std::exit(0);
  std::fprintf(stderr, "%s: %s\n", std::string(error_code_name(binary.error().code)).c_str(),
               binary.error().message.c_str());
  std::exit(1);
}

class LoneNvrtcTest : public testing::TestWithParam<std::string> {};

// An empty file stands where the builtins belong, as after a full disk, and the loader's search
// begins there. The child process starts this test again, finds the variable set and opens nothing
// but the lone library: one that has loaded the builtins keeps them.
TEST_P(LoneNvrtcTest, missing_builtins_are_reported_in_the_librarys_own_words) {
  const Folder folder;
  const std::string lone = folder.path() + "/libnvrtc.so.lone";
  std::string name;
  std::string builtins;
  if (std::getenv("NORMD_TEST_LONE_NVRTC") == nullptr) {
    const auto library = open_nvrtc(GetParam());
    ASSERT_TRUE(library) << library.error().message;
    name = library->name();
    builtins = "libnvrtc-builtins.so." + std::to_string(library->major) + "." +
               std::to_string(library->minor);
    std::filesystem::create_symlink(library->path, lone);
    std::ofstream(folder.path() + "/" + builtins).close();
    setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
    setenv("NORMD_TEST_LONE_NVRTC", lone.c_str(), 1);
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(compile_with_lone_library(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("failed_precondition"), HasSubstr(name), HasSubstr(lone),
                    HasSubstr(builtins)));
  unsetenv("LD_LIBRARY_PATH");
  unsetenv("NORMD_TEST_LONE_NVRTC");
}

INSTANTIATE_TEST_SUITE_P(libraries, LoneNvrtcTest, testing::ValuesIn(libraries_to_test()));
INSTANTIATE_TEST_SUITE_P(libraries, NvrtcTest, testing::ValuesIn(libraries_to_test()));

TEST(nvrtc_search, a_library_that_is_nowhere_is_a_failed_precondition_that_names_the_place) {
  const auto binary =
      compile(source_of(good_text, "sm_90"), {.nvrtc_library = "/no/such/libnvrtc.so.13"});
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(binary.error().message,
              AllOf(HasSubstr("/no/such/libnvrtc.so.13"), HasSubstr("No such file")));
  const auto version = compiler_version("sm_90", {.nvrtc_library = "/no/such/libnvrtc.so.13"});
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::failed_precondition);
}

TEST(nvrtc_search, a_library_that_is_not_nvrtc_is_refused_by_name) {
  const auto library = open_nvrtc("libm.so.6");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(library.error().message, HasSubstr("libm.so.6: has no nvrtc"));
}

TEST(nvrtc_search, the_version_text_is_the_name_of_the_compiler_in_a_binary) {
  const auto version = compiler_version("sm_90");
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_THAT(*version, testing::MatchesRegex("NVRTC [0-9]+\\.[0-9]+"));
  const auto binary = compile(source_of(good_text, "sm_90"));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(binary->compiler, *version);
}

TEST(nvrtc_target, an_unlisted_target_takes_the_nearest_older_architecture) {
  const NvrtcLibrary library{
      .path = "here", .major = 13, .minor = 0, .architectures = {75, 90, 120}};
  const auto target = nvrtc_target(library, "sm_103");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->format, BinaryFormat::ptx);
  EXPECT_EQ(target->architecture, "compute_90");
  EXPECT_THAT(target->note, AllOf(HasSubstr("sm_103"), HasSubstr("NVRTC 13.0"),
                                  HasSubstr("sm_75, sm_90, sm_120"), HasSubstr("compute_90")));
}

TEST(nvrtc_error, only_words_about_the_text_are_a_refusal_of_it) {
  const auto code = nvrtc_error_code;
  EXPECT_EQ(code(NVRTC_ERROR_COMPILATION, "k.cu(1): error: identifier \"x\" is undefined\n"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(NVRTC_ERROR_COMPILATION, "ptxas error   : Entry uses too much shared data\n"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(NVRTC_ERROR_COMPILATION, "ptxas fatal   : Memory allocation failure\n"),
            ErrorCode::failed_precondition);
  EXPECT_EQ(code(NVRTC_ERROR_COMPILATION, ""), ErrorCode::failed_precondition);
  EXPECT_EQ(code(NVRTC_ERROR_OUT_OF_MEMORY, ""), ErrorCode::failed_precondition);
  EXPECT_EQ(code(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, ""), ErrorCode::failed_precondition);
  EXPECT_EQ(code(NVRTC_ERROR_INVALID_OPTION, ""), ErrorCode::failed_precondition);
  EXPECT_EQ(code(NVRTC_ERROR_INTERNAL_ERROR, "k.cu(1): error: x\n"), ErrorCode::internal);
}

TEST(ptxas_report, registers_are_of_the_hungriest_and_spills_of_all) {
  const PtxasReport report = parse_ptxas_report(
      "ptxas info    : Function properties for a\n"
      "ptxas         .     8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 28 registers, used 0 barriers, 368 bytes cmem[0]\n"
      "ptxas         .     0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers\n");
  EXPECT_EQ(report.registers, 255);
  EXPECT_EQ(report.spill_bytes, 16);
}

TEST(ptxas_report, a_log_that_does_not_say_leaves_both_unknown) {
  const PtxasReport report = parse_ptxas_report("nvrtc: warning: something else\n");
  EXPECT_EQ(report.registers, -1);
  EXPECT_EQ(report.spill_bytes, -1);
}

}  // namespace
}  // namespace normd
