#include "service/cli/quantity.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>

#include "kernels/text.h"
#include "service/cli/escape.h"

namespace normd {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The error for a shape: where in the text, and what belongs there.
tl::unexpected<Error> shape_fault(std::string_view text, std::size_t position,
                                  const std::string& expected) {
  return fail(ErrorCode::invalid_argument,
              "\"" + escaped(text) + "\", position " + std::to_string(position + 1) +
                  ": expected " + expected + " (a shape is ROWSxCOLUMNS, such as 4096x8192)",
              "shape");
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  std::size_t end_of_rows = 0;
  while (end_of_rows < text.size() && is_digit(text[end_of_rows])) ++end_of_rows;
  if (end_of_rows == 0) return shape_fault(text, 0, "the digits of ROWS");
  if (end_of_rows == text.size() || text[end_of_rows] != 'x') {
    return shape_fault(text, end_of_rows, "'x' between ROWS and COLUMNS");
  }
  const std::size_t columns_begin = end_of_rows + 1;
  std::size_t end = columns_begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == columns_begin) return shape_fault(text, end, "the digits of COLUMNS");
  if (end != text.size()) return shape_fault(text, end, "the end of COLUMNS");
  const auto rows = parse_integer(text.substr(0, end_of_rows));
  if (!rows) return shape_fault(text, 0, "ROWS that fit 63 bits");
  const auto columns = parse_integer(text.substr(columns_begin));
  if (!columns) return shape_fault(text, columns_begin, "COLUMNS that fit 63 bits");
  return Shape{.rows = *rows, .columns = *columns};
}

Result<std::int64_t> parse_duration_ms(std::string_view text, const std::string& flag) {
  const std::size_t unit_at = text.find_first_not_of("0123456789");
  const std::string_view unit = unit_at == std::string_view::npos ? "" : text.substr(unit_at);
  const std::int64_t unit_ms = unit == "ms" ? 1 : unit == "s" ? 1'000 : unit == "m" ? 60'000 : 0;
  std::optional<std::int64_t> count;
  if (unit_ms != 0) count = parse_integer(text.substr(0, unit_at));
  std::int64_t duration_ms = 0;
  if (!count || __builtin_mul_overflow(*count, unit_ms, &duration_ms)) {
    return fail(ErrorCode::invalid_argument,
                flag + " \"" + escaped(text) + "\": expected digits and a unit: 500ms, 2s or 1m",
                flag);
  }
  return duration_ms;
}

Result<std::int64_t> parse_integer_in(std::string_view text, const IntegerRange& range,
                                      const std::string& flag) {
  const bool digits_only = text.find_first_not_of("0123456789") == std::string_view::npos;
  const std::optional<std::int64_t> value = digits_only ? parse_integer(text) : std::nullopt;
  if (!value || *value < range.min || *value > range.max) {
    return fail(ErrorCode::invalid_argument,
                flag + " \"" + escaped(text) + "\": expected a whole number from " +
                    std::to_string(range.min) + " to " + std::to_string(range.max),
                flag);
  }
  return *value;
}

Result<float> parse_epsilon(std::string_view text) {
  const bool decimal = !text.empty() && (is_digit(text.front()) || text.front() == '.');
  const std::optional<double> value = decimal ? parse_number(text) : std::nullopt;
  if (!value || !std::isfinite(*value) || *value > std::numeric_limits<float>::max()) {
    return fail(ErrorCode::invalid_argument,
                "--epsilon \"" + escaped(text) +
                    "\": expected a number that is 0 or more and "
                    "finite as fp32, such as 1e-5",
                "--epsilon");
  }
  return static_cast<float>(*value);
}

std::string format_fixed(double value, int decimals) {
  std::array<char, 64> buffer = {};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return buffer.data();
}

std::string format_ns(double ns) {
  if (!(ns > 0)) return "";
  if (ns < 999.5) return format_fixed(ns, 0) + " ns";
  const auto [value, unit] = ns < 999.5e3   ? std::pair{ns / 1e3, " us"}
                             : ns < 999.5e6 ? std::pair{ns / 1e6, " ms"}
                                            : std::pair{ns / 1e9, " s"};
  return format_fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array units = {" KiB", " MiB", " GiB", " TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return format_fixed(value, 1) + units[unit];
}

std::string format_share(double part, double whole) {
  if (!(whole > 0) || !(part > 0)) return "";
  const double percent = 100 * part / whole;
  return format_fixed(percent, percent < 9.95 ? 1 : 0) + " %";
}

std::string format_time(std::int64_t unix_s) {
  if (unix_s <= 0) return "";
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm parts = {};
  std::array<char, 64> buffer = {};
  if (gmtime_r(&time, &parts) == nullptr) return "";
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M", &parts);
  return buffer.data();
}

}  // namespace normd
