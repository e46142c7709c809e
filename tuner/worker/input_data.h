// The seeded inputs that candidates are checked and measured on. Values depend on the seed and the
// dtype alone, not on the machine. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/template.h"

namespace normd {

// What one row of x is filled with. The hard ones are those that separate right kernels from nearly
// right ones: a mean large against the spread, equal values, a poisoned row beside clean ones.
enum class RowKind : std::uint8_t {
  normal,            // mean 0, spread 1
  shifted,           // mean 10
  mean_over_spread,  // mean/spread 1e3 (fp32) or 1e2
  thousand,          // near 1000 with spread 0.1 (fp32), or 4
  mean_1e5,          // mean/spread 1e5, fp32 only
  constant,          // 0.1 throughout
  zero,
  far_first,      // normal, but for far_elements() of the first, which lie 1000 away
  ramp,           // 0, 1, 2, ... scaled into range
  with_nan,       // normal, one NaN in the last column
  with_infinity,  // normal, one +infinity in the first column
  // The rest is not for teaching templates.
  huge,           // squares overflow fp32
  sum_overflows,  // around 8.5e37: the plain sum overflows fp32, and in fp16 its own dtype
  tiny,           // squares underflow fp32
  subnormal,      // values below the smallest normal number
};

inline constexpr int row_kinds_max = 15;

// Random data repeats with this period: a prime, and so no multiple of any likely row or block.
inline constexpr std::int64_t tile_elements = 1048573;

std::vector<RowKind> row_kinds(DType x, Grade grade);
std::string_view row_kind_name(RowKind kind);

// `columns` elements of `dtype`, one row.
std::vector<char> make_row(RowKind kind, DType dtype, std::int64_t columns, std::uint64_t seed);

// Most of those that a kernel may look for the row's middle among (row_origin.cuh), and few enough
// to lie far from the mean of a narrow row.
std::int64_t far_elements(DType dtype, std::int64_t columns);

// gamma around 1 and beta around 0, with a spread that tells them apart.
std::vector<char> make_gamma(DType dtype, std::int64_t columns, std::uint64_t seed);
std::vector<char> make_beta(DType dtype, std::int64_t columns, std::uint64_t seed);

// `elements` of kind normal, as one array.
std::vector<char> make_normal(DType dtype, std::int64_t elements, std::uint64_t seed);

}  // namespace normd
