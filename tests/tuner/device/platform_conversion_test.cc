// The conversions of kernels/templates/platform.cuh, in their host body, against dtype.h.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/dtype.h"
#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

// x is read, y is written; `columns` is how many values there are.
constexpr std::string_view kernels = R"(
static long long global_index() { return block_index() * 64 + thread_index(); }

template <typename T> static void widen_all(const NormArguments& arguments) {
  const T* x = static_cast<const T*>(arguments.x);
  for (long long i = global_index(); i < arguments.columns; i += grid_blocks() * 64)
    static_cast<float*>(arguments.y)[i] = to_float(x[i]);
}
NORMD_KERNEL(widen_fp32, NormArguments, 64) { widen_all<fp32>(arguments); }
NORMD_KERNEL(widen_fp16, NormArguments, 64) { widen_all<fp16>(arguments); }
NORMD_KERNEL(widen_bf16, NormArguments, 64) { widen_all<bf16>(arguments); }

template <typename T> static void narrow_all(const NormArguments& arguments) {
  const float* x = static_cast<const float*>(arguments.x);
  for (long long i = global_index(); i < arguments.columns; i += grid_blocks() * 64)
    static_cast<T*>(arguments.y)[i] = from_float<T>(x[i]);
}
NORMD_KERNEL(narrow_fp32, NormArguments, 64) { narrow_all<fp32>(arguments); }
NORMD_KERNEL(narrow_fp16, NormArguments, 64) { narrow_all<fp16>(arguments); }
NORMD_KERNEL(narrow_bf16, NormArguments, 64) { narrow_all<bf16>(arguments); }

template <typename T> static void round_all(const NormArguments& arguments) {
  const double* x = static_cast<const double*>(arguments.x);
  for (long long i = global_index(); i < arguments.columns; i += grid_blocks() * 64)
    static_cast<T*>(arguments.y)[i] = from_double<T>(x[i]);
}
NORMD_KERNEL(round_fp32, NormArguments, 64) { round_all<fp32>(arguments); }
NORMD_KERNEL(round_fp16, NormArguments, 64) { round_all<fp16>(arguments); }
NORMD_KERNEL(round_bf16, NormArguments, 64) { round_all<bf16>(arguments); }


)";

CompiledOnce binary(kernels);

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  return patterns;
}

void expect_widening(DType dtype, const std::vector<float>& got) {
  const auto patterns = all_patterns();
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const double expected = load_element(dtype, patterns.data(), i);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(expected)))
          << i;
    }
  }
}

TEST(PlatformConversionTest, every_fp16_pattern_widens_to_its_value) {
  expect_widening(DType::fp16, outputs_for<std::uint16_t, float>(*binary, "widen_fp16",
                                                                 all_patterns(), 65536, 16));
}

TEST(PlatformConversionTest, every_bf16_pattern_widens_to_its_value) {
  expect_widening(DType::bf16, outputs_for<std::uint16_t, float>(*binary, "widen_bf16",
                                                                 all_patterns(), 65536, 16));
}

// Around every value of `dtype`: itself, half-way to the next one, and the neighbours of both as
// Number; that is every place where rounding can go wrong.
template <typename Number>
std::vector<Number> rounding_cases(DType dtype) {
  std::vector<Number> cases;
  const auto patterns = all_patterns();
  const Number infinity = std::numeric_limits<Number>::infinity();
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto value = static_cast<Number>(load_element(dtype, patterns.data(), i));
    const auto half_way = static_cast<Number>(
        static_cast<double>(value) + unit_in_last_place(dtype, static_cast<double>(value)) / 2);
    for (const Number centre : {value, half_way, -half_way}) {
      for (const Number number :
           {centre, std::nextafter(centre, infinity), std::nextafter(centre, -infinity)}) {
        cases.push_back(number);
      }
    }
  }
  for (const Number number : {Number(1e30), Number(65519.99), Number(65520), Number(-65520.01),
                              Number(1e-40), Number(-0.0), std::numeric_limits<Number>::max()}) {
    cases.push_back(number);
  }
  return cases;
}

template <typename Number>
void expect_rounding(DType dtype, const std::vector<Number>& cases,
                     const std::vector<std::uint16_t>& got) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::uint16_t expected = 0;
    store_element(dtype, &expected, 0, static_cast<double>(cases[i]));
    if (std::isnan(cases[i])) {
      ASSERT_TRUE(std::isnan(load_element(dtype, &got[i], 0))) << i;
    } else {
      ASSERT_EQ(got[i], expected) << cases[i];
    }
  }
}

TEST(PlatformConversionTest, floats_round_to_the_nearest_even_fp16) {
  const auto cases = rounding_cases<float>(DType::fp16);
  expect_rounding(
      DType::fp16, cases,
      outputs_for<float, std::uint16_t>(*binary, "narrow_fp16", cases, cases.size(), 16));
}

TEST(PlatformConversionTest, floats_round_to_the_nearest_even_bf16) {
  const auto cases = rounding_cases<float>(DType::bf16);
  expect_rounding(
      DType::bf16, cases,
      outputs_for<float, std::uint16_t>(*binary, "narrow_bf16", cases, cases.size(), 16));
}

// Rounding to float on the way would be wrong next to the half-way points.
TEST(PlatformConversionTest, doubles_round_once_to_fp16) {
  const auto cases = rounding_cases<double>(DType::fp16);
  expect_rounding(
      DType::fp16, cases,
      outputs_for<double, std::uint16_t>(*binary, "round_fp16", cases, cases.size(), 16));
}

TEST(PlatformConversionTest, doubles_round_once_to_bf16) {
  const auto cases = rounding_cases<double>(DType::bf16);
  expect_rounding(
      DType::bf16, cases,
      outputs_for<double, std::uint16_t>(*binary, "round_bf16", cases, cases.size(), 16));
}

TEST(PlatformConversionTest, fp32_passes_through_bit_by_bit) {
  std::vector<float> values = std::vector<float>(64, 1.5f);
  values[0] = -0.0f;
  values[1] = 0x1p-149f;
  values[2] = std::numeric_limits<float>::infinity();
  for (const char* entry : {"widen_fp32", "narrow_fp32"}) {
    const auto got = outputs_for<float, float>(*binary, entry, values, 64);
    EXPECT_EQ(std::memcmp(got.data(), values.data(), 256), 0) << entry;
  }
  const auto rounded =
      outputs_for<double, float>(*binary, "round_fp32", {0.1, 1.0 / 3.0, 1e300}, 3);
  EXPECT_EQ(rounded, (std::vector<float>{0.1f, 1.0f / 3.0f, static_cast<float>(INFINITY)}));
}

}  // namespace
}  // namespace normd
