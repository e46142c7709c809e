#include "tuner/compiler/host_compiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernels/digest.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

Source source_of(const std::string& text) {
  return {.text = text, .entry = "kernel", .target = "host", .digest = sha256_hex(text)};
}

const char good_text[] = "extern \"C\" void kernel(const void*) {}\n";

// Every test has a place for temporary files of its own, with a space in its name, and leaves
// nothing there.
class HostCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "host compiler XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    place_ = pattern;
    before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
    setenv("TMPDIR", (place_ / "temporary files").c_str(), 1);
    std::filesystem::create_directory(place_ / "temporary files");
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(place_ / "temporary files")) << "something was left";
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    std::filesystem::remove_all(place_);
  }

  // A stand-in for the compiler: says a version, and does `body` when it is to compile.
  HostCompiler stand_in(const std::string& body, std::chrono::milliseconds limit = 60s) {
    const std::filesystem::path path = place_ / "compiler";
    std::ofstream(path)
        << "#!/bin/sh\n[ \"$1\" = --version ] && echo 'g++ (Some 1-2.3) 9.8.7 (x)' && "
           "exit 0\n"
        << body << "\n";
    chmod(path.c_str(), 0700);
    return {.program = path.string(), .limit = limit};
  }

  std::filesystem::path place_;
  std::string before_;
};

TEST_F(HostCompilerTest, a_text_becomes_a_shared_object_with_its_origin_written_beside) {
  const auto binary = compile_with_host_compiler(source_of(good_text));
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(binary->format, BinaryFormat::host_object);
  EXPECT_EQ(binary->bytes.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_EQ(binary->digest, sha256_hex(binary->bytes));
  EXPECT_EQ(binary->source_digest, sha256_hex(good_text));
  EXPECT_EQ(binary->entry, "kernel");
  EXPECT_EQ(binary->target, "host");
  EXPECT_EQ(binary->compiler, *host_compiler_version());
}

TEST_F(HostCompilerTest, the_same_text_becomes_the_same_bytes) {
  const auto first = compile_with_host_compiler(source_of(good_text));
  const auto second = compile_with_host_compiler(source_of(good_text));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->digest, second->digest);
}

TEST_F(HostCompilerTest, a_refused_text_is_answered_in_the_compilers_words) {
  const auto binary = compile_with_host_compiler(source_of("int kernel = no_such_name;\n"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(binary.error().message.find("no_such_name"), std::string::npos)
      << binary.error().message;
  EXPECT_NE(binary.error().message.find("kernel.cc:1"), std::string::npos);
}

TEST_F(HostCompilerTest, the_sources_options_reach_the_compiler) {
  Source source = source_of("#ifndef ANSWER\n#error no answer\n#endif\n");
  EXPECT_FALSE(compile_with_host_compiler(source));
  source.options = {"-DANSWER=a word; with $(touch shell) 'quotes'"};
  const auto binary = compile_with_host_compiler(source);
  EXPECT_TRUE(binary) << binary.error().message;
}

TEST_F(HostCompilerTest, products_and_sums_are_not_contracted_even_where_the_machine_could) {
  Source source =
      source_of("extern \"C\" float kernel(float a, float b, float c) { return a * b + c; }\n");
  source.options = {"-mfma", "-S"};
  const auto assembly = compile_with_host_compiler(source);
#if defined(__x86_64__)
  ASSERT_TRUE(assembly) << assembly.error().message;
  EXPECT_EQ(assembly->bytes.find("vfmadd"), std::string::npos);
  EXPECT_NE(assembly->bytes.find("mulss"), std::string::npos);
#endif
}

TEST_F(HostCompilerTest, the_version_is_the_compilers_and_not_the_packagers) {
  auto version = host_compiler_version(stand_in(""));
  ASSERT_TRUE(version) << version.error().message;
#ifdef NORMD_SANITIZE
  EXPECT_EQ(*version, "g++ 9.8.7 " NORMD_SANITIZE);
#else
  EXPECT_EQ(*version, "g++ 9.8.7");
#endif
  version = host_compiler_version();
  ASSERT_TRUE(version);
  EXPECT_EQ(version->find("unknown"), std::string::npos) << *version;
}

TEST_F(HostCompilerTest, a_missing_compiler_is_named) {
  const auto binary =
      compile_with_host_compiler(source_of(good_text), {.program = "/no/such/compiler"});
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(binary.error().message.find("/no/such/compiler"), std::string::npos)
      << binary.error().message;
  EXPECT_NE(binary.error().message.find("No such file"), std::string::npos);
}

TEST_F(HostCompilerTest, a_program_that_is_no_compiler_is_named) {
  const auto version = host_compiler_version({.program = "false"});
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::failed_precondition);
}

TEST_F(HostCompilerTest, a_hung_compiler_is_killed_with_its_children) {
  // The child holds the output open; and it would say so if it outlived the kill.
  const auto mark = place_ / "outlived";
  const auto compiler = stand_in("(sleep 3; touch '" + mark.string() + "') & sleep 60", 1s);
  const auto begin = std::chrono::steady_clock::now();
  const auto binary = compile_with_host_compiler(source_of(good_text), compiler);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::deadline_exceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  std::this_thread::sleep_for(3s);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(HostCompilerTest, a_compiler_that_closes_its_streams_and_hangs_is_killed) {
  const auto compiler = stand_in("exec >&- 2>&-; exec sleep 60", 1s);
  const auto binary = compile_with_host_compiler(source_of(good_text), compiler);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::deadline_exceeded);
}

TEST_F(HostCompilerTest, a_compiler_that_stumbles_over_the_text_is_no_refusal) {
  const auto binary = compile_with_host_compiler(
      source_of(good_text),
      stand_in("echo 'kernel.cc:1:1: internal compiler error: in x'; exit 4"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::internal) << binary.error().message;
}

// In the words of g++ 12 and binutils 2.40.
TEST_F(HostCompilerTest, the_toolchains_own_trouble_is_no_refusal) {
  const char* const troubles[] = {
      "kill -SEGV $$",
      "echo \"g++: fatal error: cannot execute 'as': execvp: No such file or directory\"; exit 1",
      "echo 'g++: fatal error: Killed signal terminated program cc1plus'; exit 1",
      "echo 'g++: error: unrecognized command-line option'; exit 1",
      "echo 'kernel.cc:301:90: fatal error: error writing to /tmp/cc.s: No space left on device'; "
      "exit 1",
      "echo '/tmp/cc.s: Fatal error: /tmp/cc.o: No such file or directory'; exit 1",
      "echo 'collect2: error: ld returned 1 exit status'; exit 1",
      "echo 'cc1plus: out of memory allocating 65536 bytes'; exit 1",
      "exit 1",
  };
  for (const char* const trouble : troubles) {
    const auto binary = compile_with_host_compiler(source_of(good_text), stand_in(trouble));
    ASSERT_FALSE(binary);
    EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition) << binary.error().message;
  }
}

TEST_F(HostCompilerTest, a_missing_assembler_is_no_refusal_by_the_real_compiler) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const auto binary = compile_with_host_compiler(source_of(good_text));
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition) << binary.error().message;
}

// A limit on the size of files stands in for a full disk.
TEST_F(HostCompilerTest, an_object_that_cannot_be_written_is_no_refusal) {
  const auto real = host_compiler_version();
  ASSERT_TRUE(real);
  const auto binary = compile_with_host_compiler(
      source_of(good_text), stand_in("trap '' XFSZ; ulimit -f 1; exec c++ \"$@\""));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition) << binary.error().message;
}

TEST_F(HostCompilerTest, a_compiler_that_leaves_no_object_is_not_believed) {
  const auto binary = compile_with_host_compiler(source_of(good_text), stand_in("exit 0"));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::internal);
}

TEST_F(HostCompilerTest, a_flood_of_words_is_cut) {
  const auto compiler = stand_in("yes 'kernel.cc:1:2: error: no' | head -c 10000000; exit 1");
  const auto binary = compile_with_host_compiler(source_of(good_text), compiler);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::invalid_argument);
  EXPECT_LT(binary.error().message.size(), 100'000u);
}

TEST_F(HostCompilerTest, the_compiler_sees_no_descriptor_of_ours_and_its_own_temporary_place) {
  // Its streams, and the one that the shell reads this script from.
  const auto compiler =
      stand_in("ls /proc/$$/fd | grep -v '^10$' | tr '\\n' ' '; pwd; echo \"$TMPDIR\"; exit 1");
  const std::ifstream held("/dev/null");
  const auto binary = compile_with_host_compiler(source_of(good_text), compiler);
  ASSERT_FALSE(binary);
  const std::string& message = binary.error().message;
  EXPECT_NE(message.find("\n0 1 2 "), std::string::npos) << message;
  const std::string inside = (place_ / "temporary files" / "normd-compile-").string();
  EXPECT_NE(message.find(inside), std::string::npos) << message;
  EXPECT_NE(message.find("\n" + inside), std::string::npos) << message;
}

TEST_F(HostCompilerTest, no_place_for_temporary_files_is_named) {
  setenv("TMPDIR", "/no/such/place", 1);
  const auto binary = compile_with_host_compiler(source_of(good_text));
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(binary.error().message.find("TMPDIR"), std::string::npos) << binary.error().message;
}

TEST_F(HostCompilerTest, two_threads_may_compile_at_once) {
  std::vector<Result<Binary>> binaries(2);
  {
    std::vector<std::jthread> threads;
    for (auto& binary : binaries) {
      threads.emplace_back(
          [&binary] { binary = compile_with_host_compiler(source_of(good_text)); });
    }
  }
  for (const auto& binary : binaries) EXPECT_TRUE(binary) << binary.error().message;
}

}  // namespace
}  // namespace normd
