#include "tuner/compiler/prebuilt_archive.h"

#include <optional>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::string_view first_line = "normd prebuilt kernels 1";
constexpr std::string_view compiler_mark = " compiler=";

std::optional<Prebuilt> parse_prebuilt(std::string_view name) {
  for (const Prebuilt kernel : all_prebuilt) {
    if (prebuilt_name(kernel) == name) return kernel;
  }
  return std::nullopt;
}

std::optional<BinaryFormat> parse_format(std::string_view name) {
  for (const BinaryFormat format :
       {BinaryFormat::cubin, BinaryFormat::ptx, BinaryFormat::host_object}) {
    if (binary_format_name(format) == name) return format;
  }
  return std::nullopt;
}

std::string line_of(const PrebuiltEntry& entry) {
  const Binary& binary = entry.binary;
  std::string line = "kernel=" + std::string(prebuilt_name(entry.kernel));
  line += " format=" + std::string(binary_format_name(binary.format));
  line += " target=" + binary.target;
  line += " entry=" + binary.entry;
  line += " registers=" + std::to_string(binary.registers);
  line += " spill_bytes=" + std::to_string(binary.spill_bytes);
  line += " bytes=" + std::to_string(binary.bytes.size());
  line += " digest=" + binary.digest;
  line += " source_digest=" + binary.source_digest;
  // Last, because a compiler's name has spaces in it.
  line += std::string(compiler_mark) + binary.compiler;
  return line;
}

// Reads one line and takes its image from the front of `images`.
Result<PrebuiltEntry> parse_line(std::string_view line, std::string_view& images) {
  const std::size_t mark = line.find(compiler_mark);
  if (mark == std::string_view::npos) {
    return fail(ErrorCode::data_loss,
                "prebuilt kernels: no compiler in '" + std::string(line) + "'");
  }
  FieldReader reader(line.substr(0, mark));
  PrebuiltEntry entry;
  const auto kernel = parse_prebuilt(reader.value("kernel"));
  if (!kernel) reader.reject("kernel", "any_columns, check_rows or compare_bytes");
  const auto format = parse_format(reader.value("format"));
  if (!format) reader.reject("format", "cubin, ptx or host_object");
  Binary& binary = entry.binary;
  binary.target = reader.value("target");
  binary.entry = reader.value("entry");
  binary.registers = static_cast<int>(reader.integer("registers"));
  binary.spill_bytes = static_cast<int>(reader.integer("spill_bytes"));
  const std::int64_t bytes = reader.integer("bytes");
  if (bytes < 0 || static_cast<std::size_t>(bytes) > images.size()) {
    reader.reject("bytes", "at most what is left of the file");
  }
  binary.digest = reader.value("digest");
  binary.source_digest = reader.value("source_digest");
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  entry.kernel = *kernel;
  binary.format = *format;
  binary.compiler = line.substr(mark + compiler_mark.size());
  binary.bytes = images.substr(0, static_cast<std::size_t>(bytes));
  images.remove_prefix(static_cast<std::size_t>(bytes));
  return entry;
}

// The number in "sm_90" or "compute_120"; 0 for "host".
int capability_of(const Binary& binary) {
  const std::size_t underscore = binary.target.find('_');
  if (underscore == std::string::npos) return 0;
  return static_cast<int>(parse_integer(binary.target.substr(underscore + 1)).value_or(0));
}

// Whether `binary` runs on the device. Machine code runs on later minor versions of its own major
// version, PTX on everything at least as new.
bool runs_on(const Binary& binary, const DeviceSpec& spec) {
  if (spec.kind == DeviceKind::host) return binary.format == BinaryFormat::host_object;
  const int capability = capability_of(binary);
  switch (binary.format) {
    case BinaryFormat::cubin:
      return capability / 10 == spec.capability / 10 && capability <= spec.capability;
    case BinaryFormat::ptx:
      return capability <= spec.capability;
    case BinaryFormat::host_object:
      return false;
  }
  return false;
}

// Machine code first, then what was made for the latest architecture.
bool is_better(const Binary& one, const Binary& other) {
  if (one.format != other.format) return one.format == BinaryFormat::cubin;
  return capability_of(one) > capability_of(other);
}

}  // namespace

std::string_view prebuilt_name(Prebuilt kernel) {
  switch (kernel) {
    case Prebuilt::any_columns:
      return "any_columns";
    case Prebuilt::check_rows:
      return "check_rows";
    case Prebuilt::compare_bytes:
      return "compare_bytes";
  }
  NORMD_CHECK(false);
}

std::string pack_prebuilt(std::span<const PrebuiltEntry> entries) {
  std::string archive(first_line);
  archive += '\n';
  for (const PrebuiltEntry& entry : entries) archive += line_of(entry) + "\n";
  archive += '\n';
  for (const PrebuiltEntry& entry : entries) archive += entry.binary.bytes;
  return archive;
}

Result<std::vector<PrebuiltEntry>> unpack_prebuilt(std::string_view archive) {
  const std::size_t blank = archive.find("\n\n");
  if (!archive.starts_with(first_line) || blank == std::string_view::npos) {
    return fail(ErrorCode::data_loss,
                "prebuilt kernels: the first line is not '" + std::string(first_line) + "'");
  }
  std::string_view images = archive.substr(blank + 2);
  std::vector<PrebuiltEntry> entries;
  const std::vector<std::string_view> lines = split(archive.substr(0, blank), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Result<PrebuiltEntry> entry = parse_line(lines[i], images);
    if (!entry) return fail(std::move(entry.error()));
    entries.push_back(*std::move(entry));
  }
  return entries;
}

const Binary* choose_prebuilt(std::span<const PrebuiltEntry> entries, Prebuilt kernel,
                              const DeviceSpec& spec) {
  const Binary* best = nullptr;
  for (const PrebuiltEntry& entry : entries) {
    if (entry.kernel != kernel || !runs_on(entry.binary, spec)) continue;
    if (best == nullptr || is_better(entry.binary, *best)) best = &entry.binary;
  }
  return best;
}

}  // namespace normd
