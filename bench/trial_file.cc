#include "bench/trial_file.h"

#include <algorithm>
#include <charconv>

#include "kernels/catalog.h"
#include "kernels/text.h"

namespace normd {
namespace {

// The numbers of a device line, in order; what else a spec has follows from the architecture.
constexpr int DeviceSpec::*device_numbers[] = {&DeviceSpec::sm_count, &DeviceSpec::sm_clock_mhz,
                                               &DeviceSpec::memory_clock_mhz,
                                               &DeviceSpec::memory_bus_bits};

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) return std::nullopt;
  return value;
}

std::optional<DeviceSpec> parse_device(std::string_view line) {
  const auto words = split(line, ',');
  if (words.size() != 3 + std::size(device_numbers) || words[0] != "device") return std::nullopt;
  auto spec = architecture_preset(words[1]);
  const auto l2_bytes = parse_integer(words[2]);
  if (!spec || !l2_bytes) return std::nullopt;
  spec->l2_bytes = *l2_bytes;
  for (std::size_t i = 0; i < std::size(device_numbers); ++i) {
    const auto number = parse_integer(words[3 + i]);
    if (!number) return std::nullopt;
    (*spec).*device_numbers[i] = static_cast<int>(*number);
  }
  return spec;
}

std::optional<MeasuredTrial> parse_trial(std::string_view line, const DeviceSpec& spec) {
  const auto words = split(line, ',');
  if (words.size() != 6) return std::nullopt;
  const auto dtype = parse_dtype(words[0]);
  const auto rows = parse_integer(words[1]);
  const auto columns = parse_integer(words[2]);
  const auto median_ns = parse_double(words[3]);
  const auto copy_ns = parse_double(words[4]);
  const auto candidate = parse_candidate(words[5]);
  if (!dtype || !rows || !columns || !median_ns || !copy_ns || !candidate) return std::nullopt;
  const Problem problem{.rows = *rows,
                        .columns = *columns,
                        .x = *dtype,
                        .y = *dtype,
                        .gamma = *dtype,
                        .beta = *dtype,
                        .align_bytes = spec.vector_bytes_max};
  return MeasuredTrial{problem, *candidate, *median_ns, *copy_ns};
}

}  // namespace

std::string device_line(const DeviceSpec& spec) {
  std::string line = "device," + spec.architecture() + "," + std::to_string(spec.l2_bytes);
  for (const auto number : device_numbers) line += "," + std::to_string(spec.*number);
  return line;
}

std::string trial_line(const MeasuredTrial& trial) {
  const auto ns = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
  return std::string(dtype_name(trial.problem.x)) + "," + std::to_string(trial.problem.rows) + "," +
         std::to_string(trial.problem.columns) + "," + ns(trial.median_ns) + "," +
         ns(trial.copy_ns) + "," + to_text(trial.candidate);
}

Result<TrialFile> parse_trial_file(std::string_view text, std::string_view name) {
  std::optional<TrialFile> file;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto wrong = [&](const char* wanted) {
      return fail(ErrorCode::invalid_argument,
                  std::string(name) + ":" + std::to_string(number) + ": " + wanted, "trials");
    };
    if (!file) {
      const auto spec = parse_device(line);
      if (!spec) return wrong("a line device,ARCHITECTURE,L2_BYTES,... is wanted first");
      file = TrialFile{.spec = *spec};
      continue;
    }
    auto trial = parse_trial(line, file->spec);
    if (!trial) {
      return wrong("DTYPE,ROWS,COLUMNS,MEDIAN_NS,COPY_NS,CANDIDATE is wanted");
    }
    if (validate(trial->candidate, trial->problem, file->spec)) {
      file->trials.push_back(std::move(*trial));
    } else {
      ++file->outdated;
    }
  }
  if (!file) return fail(ErrorCode::invalid_argument, std::string(name) + ": is empty", "trials");
  return std::move(*file);
}

}  // namespace normd
