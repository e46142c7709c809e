#include "kernels/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace normd {
namespace {

std::uint16_t stored_16(DType dtype, double value) {
  std::uint16_t bits = 0;
  store_element(dtype, &bits, 0, value);
  return bits;
}

std::uint32_t stored_32(double value) {
  std::uint32_t bits = 0;
  store_element(DType::fp32, &bits, 0, value);
  return bits;
}

// A double with any sign, exponent and mantissa, NaN and infinity included.
double any_double(std::mt19937_64& random) {
  return std::bit_cast<double>(random());
}

// The same, but of a size around the range of a format, where the interesting cases are.
double near_range(std::mt19937_64& random, int exponent_low, int exponent_high) {
  const int exponent = std::uniform_int_distribution<int>(exponent_low, exponent_high)(random);
  const double sign = (random() & 1) != 0 ? -1.0 : 1.0;
  return sign * std::ldexp(1.0 + std::ldexp(static_cast<double>(random() >> 12), -52), exponent);
}

class SixteenBits : public testing::TestWithParam<DType> {};

TEST_P(SixteenBits, every_pattern_survives_load_and_store) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double value = load_element(GetParam(), &bits, 0);
    if (std::isnan(value)) {
      const double again = rounded_to(GetParam(), value);
      EXPECT_TRUE(std::isnan(again)) << pattern;
      continue;
    }
    ASSERT_EQ(stored_16(GetParam(), value), bits) << pattern;
  }
}

TEST_P(SixteenBits, the_middle_of_two_neighbours_goes_to_the_even_one) {
  const std::uint16_t infinity = stored_16(GetParam(), std::numeric_limits<double>::infinity());
  for (std::uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const double low = load_element(GetParam(), &bits, 0);
    const double high = load_element(GetParam(), &next, 0);
    const double middle = low + (high - low) / 2;
    ASSERT_EQ(stored_16(GetParam(), middle), bits % 2 == 0 ? bits : next) << bits;
    ASSERT_EQ(stored_16(GetParam(), std::nextafter(middle, low)), bits) << bits;
    ASSERT_EQ(stored_16(GetParam(), std::nextafter(middle, high)), next) << bits;
    ASSERT_EQ(stored_16(GetParam(), -middle), 0x8000 | (bits % 2 == 0 ? bits : next)) << bits;
    ASSERT_EQ(unit_in_last_place(GetParam(), low), high - low) << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(formats, SixteenBits, testing::Values(DType::fp16, DType::bf16),
                         [](const auto& parameter) {
                           return std::string(dtype_name(parameter.param));
                         });

TEST(dtype, fp32_agrees_with_the_compilers_own_conversion) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    const double value = i % 2 == 0 ? any_double(random) : near_range(random, -152, 129);
    if (std::isnan(value)) continue;
    ASSERT_EQ(stored_32(value), std::bit_cast<std::uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(dtype, fp32_loads_every_float_exactly) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_EQ(load_element(DType::fp32, &value, 0), static_cast<double>(value));
  }
}

TEST(dtype, fp16_agrees_with_the_compilers_own_conversion) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300'000; ++i) {
    const double value = near_range(random, -27, 17);
    ASSERT_EQ(stored_16(DType::fp16, value),
              std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)))
        << value;
  }
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const auto value = static_cast<double>(std::bit_cast<_Float16>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(load_element(DType::fp16, &bits, 0), value) << pattern;
  }
}

TEST(dtype, bf16_is_the_upper_half_of_a_float) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    if (std::isnan(value)) continue;
    ASSERT_EQ(load_element(DType::bf16, &bits, 0), static_cast<double>(value)) << pattern;
  }
}

// Rounding to fp32 first and then to bf16 would round twice.
TEST(dtype, a_value_is_rounded_once) {
  const double just_above_middle = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(rounded_to(DType::bf16, just_above_middle), 1.0 + 0x1p-7);
  const double just_above_fp16_middle = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(rounded_to(DType::fp16, just_above_fp16_middle), 1.0 + 0x1p-10);
}

TEST(dtype, overflow_becomes_infinity_at_the_right_place) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rounded_to(DType::fp16, 65519.99), 65504.0);
  EXPECT_EQ(rounded_to(DType::fp16, 65520.0), infinity);
  EXPECT_EQ(rounded_to(DType::fp16, -65520.0), -infinity);
  EXPECT_EQ(rounded_to(DType::fp16, 1e300), infinity);
  const double bf16_max = 0x1.fep127;
  EXPECT_EQ(rounded_to(DType::bf16, bf16_max), bf16_max);
  EXPECT_EQ(rounded_to(DType::bf16, 0x1.feffffp127), bf16_max);
  EXPECT_EQ(rounded_to(DType::bf16, 0x1.ffp127), infinity);
  EXPECT_EQ(rounded_to(DType::fp32, 1e39), infinity);
  EXPECT_EQ(rounded_to(DType::fp32, -std::numeric_limits<double>::max()), -infinity);
}

TEST(dtype, subnormals_and_signed_zero_are_kept) {
  EXPECT_EQ(stored_16(DType::fp16, 0x1p-24), 1);
  EXPECT_EQ(stored_16(DType::fp16, 0x1p-25), 0);  // a tie, to even
  EXPECT_EQ(stored_16(DType::fp16, 0x1.8p-25), 1);
  EXPECT_EQ(stored_16(DType::fp16, 0x1.ff8p-15), 0x3ff);  // the largest subnormal
  EXPECT_EQ(stored_16(DType::fp16, 0x1.fffp-15), 0x400);  // carries into the normal numbers
  EXPECT_EQ(stored_16(DType::bf16, 0x1p-133), 1);
  EXPECT_EQ(stored_32(0x1p-149), 1u);
  EXPECT_EQ(stored_32(-0.0), 0x80000000u);
  EXPECT_EQ(stored_16(DType::fp16, -1e-30), 0x8000);
}

TEST(dtype, nan_is_stored_quiet) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(stored_16(DType::fp16, nan) & 0x7e00, 0x7e00);
  EXPECT_EQ(stored_16(DType::bf16, nan) & 0x7fc0, 0x7fc0);
  EXPECT_EQ(stored_32(nan) & 0x7fc00000u, 0x7fc00000u);
}

TEST(dtype, elements_are_found_by_index_at_any_alignment) {
  unsigned char bytes[16] = {};
  store_element(DType::fp16, bytes + 1, 3, -2.5);
  EXPECT_EQ(load_element(DType::fp16, bytes + 1, 3), -2.5);
  EXPECT_EQ(bytes[6], 0);
  EXPECT_EQ(bytes[9], 0);
  store_element(DType::fp32, bytes + 3, 1, 7.25);
  EXPECT_EQ(load_element(DType::fp32, bytes + 3, 1), 7.25);
}

TEST(dtype, the_unit_in_the_last_place_is_that_of_the_binade) {
  EXPECT_EQ(unit_in_last_place(DType::fp32, 1.0), 0x1p-23);
  EXPECT_EQ(unit_in_last_place(DType::fp32, -1.999), 0x1p-23);
  EXPECT_EQ(unit_in_last_place(DType::fp16, 2.0), 0x1p-9);
  EXPECT_EQ(unit_in_last_place(DType::bf16, 4.0), 0x1p-5);
  EXPECT_EQ(unit_in_last_place(DType::fp16, 0.0), 0x1p-24);
  EXPECT_EQ(unit_in_last_place(DType::fp16, 1e-9), 0x1p-24);
  EXPECT_EQ(unit_in_last_place(DType::fp32, 0.0), 0x1p-149);
  EXPECT_EQ(unit_in_last_place(DType::fp16, 1e9), 32.0);
}

TEST(dtype, names_and_sizes_are_those_of_the_interface) {
  for (const DType dtype : all_dtypes) EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
  EXPECT_EQ(dtype_name(DType::fp32), "fp32");
  EXPECT_EQ(static_cast<int>(DType::fp32), 1);
  EXPECT_EQ(static_cast<int>(DType::fp16), 2);
  EXPECT_EQ(static_cast<int>(DType::bf16), 3);
  EXPECT_EQ(size_bytes(DType::fp32), 4u);
  EXPECT_EQ(size_bytes(DType::fp16), 2u);
  EXPECT_EQ(size_bytes(DType::bf16), 2u);
  for (const char* wrong : {"", "FP32", "fp32 ", "float", "fp8", "none"}) {
    EXPECT_EQ(parse_dtype(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace normd
