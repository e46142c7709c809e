#include "tuner/trial.h"

#include <array>
#include <charconv>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

struct ReasonName {
  Reason reason;
  std::string_view name;
};

constexpr ReasonName reason_names[] = {
    {Reason::none, "none"},
    {Reason::compile_error, "compile_error"},
    {Reason::compiler_fault, "compiler_fault"},
    {Reason::spills, "spills"},
    {Reason::load_error, "load_error"},
    {Reason::launch_error, "launch_error"},
    {Reason::wrong_result, "wrong_result"},
    {Reason::unwritten_output, "unwritten_output"},
    {Reason::guard_overwritten, "guard_overwritten"},
    {Reason::not_repeatable, "not_repeatable"},
    {Reason::fault, "fault"},
    {Reason::timeout, "timeout"},
    {Reason::input_overwritten, "input_overwritten"},
    {Reason::out_of_memory, "out_of_memory"},
    {Reason::device_busy, "device_busy"},
    {Reason::device_lost, "device_lost"},
    {Reason::out_of_budget, "out_of_budget"},
};

// The shortest decimal form that reads back as the same double.
std::string number_text(double value) {
  std::array<char, 32> digits;
  const auto [end, status] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  NORMD_CHECK(status == std::errc{});
  return std::string(digits.data(), end);
}

}  // namespace

bool is_settled(const Trial& trial) {
  if (trial.verdict.kind != VerdictKind::refused)
    return trial.verdict.kind == VerdictKind::measured;
  // What the compiler said of the text depends on no process.
  const Reason reason = trial.verdict.reason;
  const bool by_text = reason == Reason::compile_error || reason == Reason::spills;
  return by_text || trial.sightings >= 2;
}

bool is_by_bytes(const Verdict& verdict) {
  if (verdict.kind != VerdictKind::refused) return false;
  switch (verdict.reason) {
    case Reason::wrong_result:
    case Reason::unwritten_output:
    case Reason::guard_overwritten:
    case Reason::not_repeatable:
    case Reason::input_overwritten:
      return true;
    default:
      return false;
  }
}

std::string_view reason_name(Reason reason) {
  for (const ReasonName& entry : reason_names) {
    if (entry.reason == reason) return entry.name;
  }
  return {};  // a number from elsewhere that is no reason
}

std::optional<Reason> parse_reason(std::string_view name) {
  for (const ReasonName& entry : reason_names) {
    if (entry.name == name) return entry.reason;
  }
  return std::nullopt;
}

std::string_view verdict_kind_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::measured:
      return "measured";
    case VerdictKind::refused:
      return "refused";
    case VerdictKind::not_tried:
      return "not_tried";
  }
  NORMD_CHECK(!"a verdict without a name");
}

std::optional<VerdictKind> parse_verdict_kind(std::string_view name) {
  for (const auto kind : {VerdictKind::measured, VerdictKind::refused, VerdictKind::not_tried}) {
    if (verdict_kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string_view cache_state_name(CacheState cache) {
  return cache == CacheState::warm ? "warm" : "cold";
}

std::optional<CacheState> parse_cache_state(std::string_view name) {
  if (name == "cold") return CacheState::cold;
  if (name == "warm") return CacheState::warm;
  return std::nullopt;
}

std::string to_text(const Measurement& measurement) {
  std::string text = "rows=" + std::to_string(measurement.rows);
  text.append(" cache=").append(cache_state_name(measurement.cache));
  text.append(" median_ns=").append(number_text(measurement.median_ns));
  text.append(" low_ns=").append(number_text(measurement.low_ns));
  text.append(" high_ns=").append(number_text(measurement.high_ns));
  text.append(" samples=").append(std::to_string(measurement.samples));
  text.append(" copy_ns=").append(number_text(measurement.copy_ns));
  if (measurement.sm_clock_mhz > 0) {
    text.append(" sm_clock_mhz=").append(std::to_string(measurement.sm_clock_mhz));
  }
  return text;
}

Result<Measurement> parse_measurement(std::string_view text) {
  FieldReader reader(text);
  const auto time_ns = [&](std::string_view name) {
    const double value = reader.number(name);
    if (!(value >= 0)) reader.reject(name, "a time");
    return value;
  };
  Measurement measurement;
  measurement.rows = reader.integer("rows");
  if (measurement.rows < 0) reader.reject("rows", "a row count");
  const auto cache = parse_cache_state(reader.value("cache"));
  if (!cache) reader.reject("cache", "cold or warm");
  measurement.cache = cache.value_or(CacheState::cold);
  measurement.median_ns = time_ns("median_ns");
  measurement.low_ns = time_ns("low_ns");
  measurement.high_ns = time_ns("high_ns");
  const auto count = [&](std::string_view name, std::string_view expected, std::int64_t least) {
    const std::int64_t value = reader.integer(name);
    if (value < least || value > 2147483647) reader.reject(name, expected);
    return static_cast<int>(value);
  };
  measurement.samples = count("samples", "a count", 0);
  measurement.copy_ns = time_ns("copy_ns");
  if (!reader.at_end()) measurement.sm_clock_mhz = count("sm_clock_mhz", "a clock", 1);
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  return measurement;
}

}  // namespace normd
