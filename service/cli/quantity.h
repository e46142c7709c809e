// Numbers as people type and read them: shapes, durations and epsilon in, times, sizes and rates
// out. Reading is strict: no sign, no space, no suffix beyond the unit, no wrap-around. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/error.h"

namespace normd {

struct Shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// "4096x8192". The Error names the text, the position of the fault in it, counted from 1, and what
// was expected there.
Result<Shape> parse_shape(std::string_view text);

// "500ms", "2s", "1m"; the unit is required. `flag` is named in the Error.
Result<std::int64_t> parse_duration_ms(std::string_view text, const std::string& flag);

// Digits only, within the bounds, which are included.
struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
Result<std::int64_t> parse_integer_in(std::string_view text, const IntegerRange& range,
                                      const std::string& flag);

// A finite decimal number that is not negative and fits fp32.
Result<float> parse_epsilon(std::string_view text);

std::string format_ns(double ns);              // "812 ns", "12.4 us", "3.05 ms", "2.10 s"
std::string format_bytes(std::int64_t bytes);  // "512 B", "20.1 KiB"
std::string format_fixed(double value, int decimals);
std::string format_share(double part, double whole);  // "87 %"; empty if the whole is 0
std::string format_time(std::int64_t unix_s);         // "2026-01-31 12:00" in UTC; empty for 0

}  // namespace normd
