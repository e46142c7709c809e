#include "tuner/compiler/host_compiler.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "kernels/digest.h"
#include "kernels/text.h"
#include "tuner/compiler/child_program.h"
#include "tuner/compiler/temporary_directory.h"

namespace normd {
namespace {

// The same whatever the directory is called, so that a text always becomes the same bytes.
constexpr char source_file[] = "kernel.cc";
constexpr char object_file[] = "kernel.so";

// The exit code of GCC when it stumbled over the text.
constexpr int internal_compiler_error = 4;

struct FoundCompiler {
  std::string program;
  std::string version;  // "g++ 12.2.0"
};

std::vector<std::string> places(const HostCompiler& compiler) {
  if (!compiler.program.empty()) return {compiler.program};
  return {
#ifdef NORMD_HOST_COMPILER
      NORMD_HOST_COMPILER,
#endif
      "c++", "g++"};
}

// From the first line that `--version` prints: "g++ (Debian 12.2.0-14) 12.2.0" and the like. What
// is in brackets is the packager's.
std::string version_in(std::string_view output) {
  const std::string_view line = output.substr(0, output.find('\n'));
  std::string number;
  int depth = 0;
  for (const char letter : line) {
    if (letter == '(') ++depth;
    if (letter == ')') --depth;
    if (depth > 0) continue;
    const bool digit = letter >= '0' && letter <= '9';
    if (digit || (letter == '.' && !number.empty())) {
      number += letter;
    } else if (number.find('.') != std::string::npos) {
      break;
    } else {
      number.clear();
    }
  }
  const bool clang = line.find("clang") != std::string_view::npos;
  std::string version = (clang ? "clang++ " : "g++ ") + (number.empty() ? "unknown" : number);
#ifdef NORMD_SANITIZE
  version += " " NORMD_SANITIZE;
#endif
  return version;
}

Result<FoundCompiler> find_compiler(const HostCompiler& compiler,
                                    const TemporaryDirectory& directory) {
  std::string looked_for;
  for (const std::string& program : places(compiler)) {
    const auto end = run_to_end({.command = {program, "--version"},
                                 .directory = directory.path(),
                                 .limit = compiler.limit});
    if (!end && end.error().code == ErrorCode::deadline_exceeded) return fail(end.error());
    if (end && end->exit_code == 0) return FoundCompiler{program, version_in(end->output)};
    looked_for += (looked_for.empty() ? "" : "; ") +
                  (end ? program + " --version failed: " + end->output : end.error().message);
  }
  return fail(ErrorCode::failed_precondition,
              "no C++ compiler for the host device (" + looked_for + "); install g++");
}

std::vector<std::string> command_line(const FoundCompiler& found, const Source& source) {
  std::vector<std::string> command = {
      found.program, "-std=c++20", "-shared", "-fPIC",
      // -O1: the compiler's own time is most of what tests and demos wait for, and -O2 lengthens it
      // by more than the kernel then saves.
      "-O1",
      // A product and a sum are one rounding only where the text says so; and no machine may
      // differ.
      "-ffp-contract=off", "-fno-math-errno",
      // Packs view arrays of elements, as every CUDA kernel does.
      "-fno-strict-aliasing",
      // The texts are CUDA's dialect too: pragmas and attributes that this compiler does not know.
      "-w"};
#ifdef NORMD_SANITIZE
  for (const char* option :
       {"-fsanitize=" NORMD_SANITIZE, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"}) {
    command.emplace_back(option);
  }
#endif
  command.insert(command.end(), source.options.begin(), source.options.end());
  for (const char* word : {source_file, "-o", object_file}) command.emplace_back(word);
  return command;
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || bytes.empty()) return std::nullopt;
  return bytes;
}

// Whether a line says what is wrong with the text and where: "kernel.cc:12:3: error: ...". What has
// no place in it is the toolchain's own trouble: a missing tool, a full disk, no memory, a kill. So
// are fatal errors, which name a place of the text even when the disk is full.
bool blames_the_text(std::string_view output) {
  const std::string place = std::string(source_file) + ":";
  for (const std::string_view line : split(output, '\n')) {
    const std::size_t error = line.find(": error: ");
    if (error == std::string_view::npos || !line.starts_with(place)) continue;
    const std::string_view numbers = line.substr(place.size(), error - place.size());
    if (numbers.find_first_not_of("0123456789:") == std::string_view::npos) return true;
  }
  return false;
}

// What a failed compilation says of the text, if anything (host_compiler.h).
Error compile_error(const Source& source, const FoundCompiler& found, const ProgramEnd& end) {
  Error error{.code = ErrorCode::failed_precondition, .message = found.version};
  if (blames_the_text(end.output)) {
    error.code = ErrorCode::invalid_argument;
    error.message += " refused ";
  } else if (end.exit_code == internal_compiler_error) {
    error.code = ErrorCode::internal;
    error.message += " stumbled over ";
  } else if (end.signal != 0) {
    error.message += " died of signal " + std::to_string(end.signal) + " on ";
  } else {
    error.message += " could not work on ";
  }
  error.message += source.entry + ":\n" + end.output;
  return error;
}

}  // namespace

Result<Binary> compile_with_host_compiler(const Source& source, const HostCompiler& compiler) {
  NORMD_CHECK(source.target == "host");
  const auto directory = TemporaryDirectory::create();
  if (!directory) return fail(directory.error());
  const auto found = find_compiler(compiler, *directory);
  if (!found) return fail(found.error());

  std::ofstream text(directory->path() / source_file, std::ios::binary);
  text << source.text;
  text.close();
  if (!text) {
    return fail(ErrorCode::failed_precondition,
                "writing " + std::to_string(source.text.size()) + " bytes of kernel text to " +
                    directory->path().string() + " failed: is it full?");
  }
  const auto end = run_to_end({.command = command_line(*found, source),
                               .directory = directory->path(),
                               .limit = compiler.limit});
  if (!end) {
    // Anything but an endless run: no process, no pipe, no program.
    const bool hung = end.error().code == ErrorCode::deadline_exceeded;
    return fail(hung ? ErrorCode::deadline_exceeded : ErrorCode::failed_precondition,
                end.error().message);
  }
  if (end->exit_code != 0) return fail(compile_error(source, *found, *end));
  auto bytes = read_file(directory->path() / object_file);
  if (!bytes) {
    return fail(ErrorCode::internal, found->version + " said that it compiled " + source.entry +
                                         " but left no object: " + end->output);
  }
  Binary binary{.format = BinaryFormat::host_object,
                .bytes = std::move(*bytes),
                .source_digest = source.digest,
                .entry = source.entry,
                .target = source.target,
                .compiler = found->version,
                .log = end->output};
  binary.digest = sha256_hex(binary.bytes);
  return binary;
}

Result<std::string> host_compiler_version(const HostCompiler& compiler) {
  const auto directory = TemporaryDirectory::create();
  if (!directory) return fail(directory.error());
  auto found = find_compiler(compiler, *directory);
  if (!found) return fail(std::move(found.error()));
  return std::move(found->version);
}

}  // namespace normd
