#include "tuner/compiler/nvrtc_compiler.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "kernels/digest.h"
#include "kernels/text.h"

namespace normd {
namespace {

struct ProgramDestroyer {
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  void operator()(nvrtcProgram program) const { destroy(&program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, ProgramDestroyer>;

std::string words_of(const NvrtcLibrary& library, nvrtcResult result) {
  return std::string(library.get_error_string(result)) + " (code " +
         std::to_string(static_cast<int>(result)) + ")";
}

Result<Program> create_program(const NvrtcLibrary& library, const Source& source) {
  nvrtcProgram raw = nullptr;
  const std::string file_name = source.entry + ".cu";
  const nvrtcResult created =
      library.create_program(&raw, source.text.c_str(), file_name.c_str(), 0, nullptr, nullptr);
  if (created != NVRTC_SUCCESS) {
    return fail(ErrorCode::failed_precondition, library.description() +
                                                    " cannot begin to compile " + source.entry +
                                                    ": " + words_of(library, created));
  }
  return Program(raw, {.destroy = library.destroy_program});
}

// The log without its trailing zero and without the line that says how long ptxas took: the same
// Source must give the same Binary.
std::string log_of(const NvrtcLibrary& library, nvrtcProgram program) {
  std::size_t size = 0;
  if (library.get_program_log_size(program, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string raw(size, '\0');
  if (library.get_program_log(program, raw.data()) != NVRTC_SUCCESS) return {};
  raw.resize(raw.find('\0') == std::string::npos ? raw.size() : raw.find('\0'));
  std::string log;
  for (const std::string_view line : split(raw, '\n')) {
    if (line.empty() || line.find("Compile time") != std::string_view::npos) continue;
    log.append(line).append("\n");
  }
  return log;
}

Error compile_error(const NvrtcLibrary& library, const Source& source, const NvrtcTarget& target,
                    nvrtcResult result, const std::string& log) {
  const std::string message = library.description() + " refused " + source.entry + " for " +
                              target.architecture + ": " + words_of(library, result) +
                              (log.empty() ? "" : "\n" + log);
  return Error{nvrtc_error_code(result, log), message, {}};
}

Result<std::string> image_of(const NvrtcLibrary& library, nvrtcProgram program,
                             BinaryFormat format) {
  const bool ptx = format == BinaryFormat::ptx;
  std::size_t size = 0;
  nvrtcResult result =
      ptx ? library.get_ptx_size(program, &size) : library.get_cubin_size(program, &size);
  std::string image(size, '\0');
  if (result == NVRTC_SUCCESS && size > 0) {
    result =
        ptx ? library.get_ptx(program, image.data()) : library.get_cubin(program, image.data());
  }
  if (result != NVRTC_SUCCESS || size <= 1) {
    return fail(ErrorCode::internal, library.description() + " compiled but gave no " +
                                         std::string(binary_format_name(format)) + ": " +
                                         words_of(library, result));
  }
  if (ptx) image.pop_back();  // its terminating zero, which a std::string has anyway
  return image;
}

// The number in "sm_90" or "compute_120".
std::optional<int> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto number = parse_integer(text.substr(prefix.size()));
  if (!number || *number < 10 || *number > 9999) return std::nullopt;
  return static_cast<int>(*number);
}

// The integer that ends right before `position`, or 0.
int integer_before(std::string_view text, std::size_t position) {
  std::size_t begin = position;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return static_cast<int>(parse_integer(text.substr(begin, position - begin)).value_or(0));
}

}  // namespace

ErrorCode nvrtc_error_code(nvrtcResult result, std::string_view log) {
  // Bad options, missing builtins and lack of memory are the toolchain's own trouble and must not
  // be remembered against a candidate. Lack of memory can also end a compilation half way: then
  // nothing in the log names a place in the text, nor does ptxas say what is wrong with it.
  if (result == NVRTC_ERROR_INTERNAL_ERROR) return ErrorCode::internal;
  const bool blames_the_text = log.find("): error") != std::string_view::npos ||
                               log.find("ptxas error") != std::string_view::npos;
  return result == NVRTC_ERROR_COMPILATION && blames_the_text ? ErrorCode::invalid_argument
                                                              : ErrorCode::failed_precondition;
}

Result<NvrtcTarget> nvrtc_target(const NvrtcLibrary& library, const std::string& target) {
  const bool ptx = target.starts_with("compute_");
  const std::optional<int> wanted = number_after(target, ptx ? "compute_" : "sm_");
  if (!wanted) {
    return fail(
        ErrorCode::invalid_argument,
        "'" + target + "' is no target for NVRTC: sm_90 and compute_120 are of the right form",
        "target");
  }
  const std::vector<int>& known = library.architectures;
  if (std::ranges::find(known, *wanted) != known.end()) {
    return NvrtcTarget{.format = ptx ? BinaryFormat::ptx : BinaryFormat::cubin,
                       .architecture = target};
  }
  const auto above = std::ranges::upper_bound(known, *wanted);
  if (above == known.begin()) {
    return fail(ErrorCode::failed_precondition,
                target + " is older than what " + library.description() +
                    " compiles for: " + library.architecture_list());
  }
  const std::string nearest = "compute_" + std::to_string(*std::prev(above));
  return NvrtcTarget{.format = BinaryFormat::ptx,
                     .architecture = nearest,
                     .note = target + " is unknown to " + library.name() + " (it lists " +
                             library.architecture_list() + "): compiled to PTX of " + nearest +
                             ", which the driver compiles when it loads it\n"};
}

Result<Binary> compile_with_nvrtc(const NvrtcLibrary& library, const Source& source) {
  const Result<NvrtcTarget> target = nvrtc_target(library, source.target);
  if (!target) return fail(target.error());
  const Result<Program> program = create_program(library, source);
  if (!program) return fail(program.error());

  // One string per option: a path with a space in it stays whole.
  std::vector<std::string> options = {"--gpu-architecture=" + target->architecture};
  if (target->format == BinaryFormat::cubin) options.emplace_back("--ptxas-options=-v");
  // From 12.9 on NVRTC keeps what it compiled on disk and reports no registers for what it finds
  // there. Our store is the cache.
  if (library.major > 12 || library.minor >= 9) options.emplace_back("--no-cache");
  options.insert(options.end(), source.options.begin(), source.options.end());
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());

  const nvrtcResult compiled =
      library.compile_program(program->get(), static_cast<int>(pointers.size()), pointers.data());
  std::string log = log_of(library, program->get());
  if (compiled != NVRTC_SUCCESS) {
    return fail(compile_error(library, source, *target, compiled, log));
  }
  Result<std::string> image = image_of(library, program->get(), target->format);
  if (!image) return fail(std::move(image.error()));
  const PtxasReport report = parse_ptxas_report(log);
  return Binary{.format = target->format,
                .bytes = *image,
                .digest = sha256_hex(*image),
                .source_digest = source.digest,
                .entry = source.entry,
                .target = target->architecture,
                .compiler = library.name(),
                .registers = report.registers,
                .spill_bytes = report.spill_bytes,
                .log = target->note + log};
}

PtxasReport parse_ptxas_report(std::string_view log) {
  PtxasReport report;
  for (const std::string_view line : split(log, '\n')) {
    if (const auto at = line.find(" registers");
        at != std::string_view::npos && line.find("Used ") != std::string_view::npos) {
      report.registers = std::max(report.registers, integer_before(line, at));
    }
    const auto stores = line.find(" bytes spill stores");
    const auto loads = line.find(" bytes spill loads");
    if (stores == std::string_view::npos || loads == std::string_view::npos) continue;
    report.spill_bytes = std::max(report.spill_bytes, 0) +
                         std::max(integer_before(line, stores), integer_before(line, loads));
  }
  return report;
}

}  // namespace normd
