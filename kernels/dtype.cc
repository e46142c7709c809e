#include "kernels/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/check.h"

namespace normd {
namespace {

// A binary floating-point format narrower than double.
struct Format {
  int mantissa_bits;  // stored ones, without the implicit leading bit
  int exponent_min;   // of the smallest normal number
  int exponent_max;   // of the largest finite number
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::fp32: return {23, -126, 127};
    case DType::fp16: return {10, -14, 15};
    case DType::bf16: return {7, -126, 127};
  }
  NORMD_CHECK(false);
}

// The bit pattern of `value` in a format of `total_bits`, rounded to nearest even.
std::uint32_t encode(const Format& format, int total_bits, double value) {
  const std::uint32_t sign = std::signbit(value) ? 1u << (total_bits - 1) : 0u;
  const int exponent_bits = total_bits - 1 - format.mantissa_bits;
  const std::uint32_t infinity = ((1u << exponent_bits) - 1u) << format.mantissa_bits;
  if (std::isnan(value)) return sign | infinity | (1u << (format.mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0.0) return sign;
  if (std::isinf(value)) return sign | infinity;
  const int exponent = std::max(std::ilogb(magnitude), format.exponent_min);
  // In units of the last place the value is an integer after rounding; nearbyint is to even in
  // the default rounding mode, and the scaling by a power of two is exact.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const auto integer = static_cast<std::uint64_t>(units);
  // A carry into the next binade, and the step from subnormal to normal, come out right by adding.
  const auto biased = static_cast<std::uint64_t>(exponent - format.exponent_min);
  const std::uint64_t bits = (biased << format.mantissa_bits) + integer;
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, infinity));
}

double decode(const Format& format, int total_bits, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1u);
  const int exponent_bits = total_bits - 1 - format.mantissa_bits;
  const std::uint32_t field = (bits >> format.mantissa_bits) & ((1u << exponent_bits) - 1u);
  const double sign = (bits >> (total_bits - 1)) & 1u ? -1.0 : 1.0;
  if (field == (1u << exponent_bits) - 1u) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double significand =
      field == 0 ? mantissa : static_cast<double>(mantissa + (1u << format.mantissa_bits));
  const int exponent = format.exponent_min + (field == 0 ? 0 : static_cast<int>(field) - 1);
  return sign * std::ldexp(significand, exponent - format.mantissa_bits);
}

}  // namespace

std::size_t size_bytes(DType dtype) { return dtype == DType::fp32 ? 4 : 2; }

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::fp32: return "fp32";
    case DType::fp16: return "fp16";
    case DType::bf16: return "bf16";
  }
  NORMD_CHECK(false);
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DType dtype : all_dtypes) {
    if (dtype_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

double load_element(DType dtype, const void* array, std::size_t index) {
  const char* address = static_cast<const char*>(array) + index * size_bytes(dtype);
  if (dtype == DType::fp32) {
    float value;
    std::memcpy(&value, address, sizeof value);
    return static_cast<double>(value);
  }
  std::uint16_t bits;
  std::memcpy(&bits, address, sizeof bits);
  return decode(format_of(dtype), 16, bits);
}

void store_element(DType dtype, void* array, std::size_t index, double value) {
  char* address = static_cast<char*>(array) + index * size_bytes(dtype);
  if (dtype == DType::fp32) {
    const std::uint32_t bits = encode(format_of(dtype), 32, value);
    std::memcpy(address, &bits, sizeof bits);
    return;
  }
  const auto bits = static_cast<std::uint16_t>(encode(format_of(dtype), 16, value));
  std::memcpy(address, &bits, sizeof bits);
}

double unit_in_last_place(DType dtype, double value) {
  const Format format = format_of(dtype);
  const double magnitude = std::fabs(value);
  const int exponent =
      magnitude == 0.0 || !std::isfinite(magnitude)
          ? (magnitude == 0.0 ? format.exponent_min : format.exponent_max)
          : std::clamp(std::ilogb(magnitude), format.exponent_min, format.exponent_max);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

double rounded_to(DType dtype, double value) {
  std::uint32_t cell = 0;
  store_element(dtype, &cell, 0, value);
  return load_element(dtype, &cell, 0);
}

}  // namespace normd
