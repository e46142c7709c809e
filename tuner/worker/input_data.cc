#include "tuner/worker/input_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/check.h"

namespace normd {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): one multiplication chain per number, any seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  double uniform() {  // in [0, 1)
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
  }

  // The sum of four uniforms, scaled to variance 1: near enough to normal, and the same everywhere.
  double normal() { return (uniform() + uniform() + uniform() + uniform() - 2.0) * std::sqrt(3.0); }

 private:
  std::uint64_t state_;
};

template <typename Value>
std::vector<char> fill(DType dtype, std::int64_t elements, Value value) {
  std::vector<char> array(static_cast<std::size_t>(elements) * size_bytes(dtype));
  for (std::int64_t i = 0; i < elements; ++i) {
    store_element(dtype, array.data(), static_cast<std::size_t>(i), value(i));
  }
  return array;
}

// Mean and spread of the kinds that are normal numbers shifted and scaled.
struct Shape {
  double mean;
  double spread;
};

Shape shape_of(RowKind kind, DType dtype) {
  const bool wide = dtype == DType::fp32;
  switch (kind) {
    case RowKind::shifted:
      return {10.0, 1.0};
    case RowKind::mean_over_spread:
      return wide ? Shape{1e3, 1.0} : Shape{1e2, 1.0};
    case RowKind::thousand:
      return wide ? Shape{1e3, 0.1} : Shape{1e3, 4.0};
    case RowKind::mean_1e5:
      return {1e5, 1.0};
    case RowKind::huge:
      return {0.0, dtype == DType::fp16 ? 2e4 : 1e30};
    case RowKind::sum_overflows:
      return dtype == DType::fp16 ? Shape{3e4, 5e3} : Shape{8.5e37, 2e37};
    case RowKind::tiny:
      return {0.0, dtype == DType::fp16 ? 1e-4 : 1e-25};
    case RowKind::subnormal:
      return {0.0, dtype == DType::fp16 ? 1e-6 : 1e-39};
    default:
      return {0.0, 1.0};
  }
}

// Of the first elements of far_first: as many spreads of the row as they can be.
constexpr double far_distance = 1000;

}  // namespace

std::vector<RowKind> row_kinds(DType x, Grade grade) {
  std::vector<RowKind> kinds = {RowKind::normal,       RowKind::shifted,  RowKind::mean_over_spread,
                                RowKind::thousand,     RowKind::constant, RowKind::far_first,
                                RowKind::zero,         RowKind::with_nan, RowKind::ramp,
                                RowKind::with_infinity};
  if (x == DType::fp32) kinds.push_back(RowKind::mean_1e5);
  if (grade == Grade::exact) {
    for (const RowKind kind :
         {RowKind::huge, RowKind::sum_overflows, RowKind::tiny, RowKind::subnormal}) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::string_view row_kind_name(RowKind kind) {
  switch (kind) {
    case RowKind::normal:
      return "normal";
    case RowKind::shifted:
      return "shifted";
    case RowKind::mean_over_spread:
      return "mean_over_spread";
    case RowKind::thousand:
      return "thousand";
    case RowKind::mean_1e5:
      return "mean_1e5";
    case RowKind::constant:
      return "constant";
    case RowKind::zero:
      return "zero";
    case RowKind::far_first:
      return "far_first";
    case RowKind::ramp:
      return "ramp";
    case RowKind::with_nan:
      return "with_nan";
    case RowKind::with_infinity:
      return "with_infinity";
    case RowKind::huge:
      return "huge";
    case RowKind::sum_overflows:
      return "sum_overflows";
    case RowKind::tiny:
      return "tiny";
    case RowKind::subnormal:
      return "subnormal";
  }
  NORMD_CHECK(false);
}

std::vector<char> make_row(RowKind kind, DType dtype, std::int64_t columns, std::uint64_t seed) {
  if (kind == RowKind::constant) return fill(dtype, columns, [](std::int64_t) { return 0.1; });
  if (kind == RowKind::zero) return fill(dtype, columns, [](std::int64_t) { return 0.0; });
  if (kind == RowKind::ramp) {
    const double step = 1000.0 / static_cast<double>(columns);
    return fill(dtype, columns, [&](std::int64_t i) { return static_cast<double>(i) * step; });
  }
  Random random(seed);
  const Shape shape = shape_of(kind, dtype);
  std::vector<char> row = fill(dtype, std::min(columns, tile_elements), [&](std::int64_t) {
    return shape.mean + shape.spread * random.normal();
  });
  const std::size_t row_bytes = static_cast<std::size_t>(columns) * size_bytes(dtype);
  std::size_t done = row.size();
  row.resize(row_bytes);
  while (done < row_bytes) {
    const std::size_t more = std::min(done, row_bytes - done);
    std::memcpy(row.data() + done, row.data(), more);
    done += more;
  }
  const std::int64_t far = kind == RowKind::far_first ? far_elements(dtype, columns) : 0;
  for (std::int64_t i = 0; i < far; ++i) {
    const auto at = static_cast<std::size_t>(i);
    store_element(dtype, row.data(), at, load_element(dtype, row.data(), at) + far_distance);
  }
  if (kind == RowKind::with_nan) {
    store_element(dtype, row.data(), static_cast<std::size_t>(columns - 1),
                  std::numeric_limits<double>::quiet_NaN());
  }
  if (kind == RowKind::with_infinity) {
    store_element(dtype, row.data(), 0, std::numeric_limits<double>::infinity());
  }
  return row;
}

std::int64_t far_elements(DType dtype, std::int64_t columns) {
  const std::int64_t elements = dtype == DType::fp32 || columns >= 64 ? 8 : 3;
  return std::min(columns, elements);
}

std::vector<char> make_gamma(DType dtype, std::int64_t columns, std::uint64_t seed) {
  Random random(seed ^ 0x67616d6d61ull);
  return fill(dtype, columns, [&](std::int64_t) { return 1.0 + 0.2 * random.normal(); });
}

std::vector<char> make_beta(DType dtype, std::int64_t columns, std::uint64_t seed) {
  Random random(seed ^ 0x62657461ull);
  return fill(dtype, columns, [&](std::int64_t) { return 0.2 * random.normal(); });
}

std::vector<char> make_normal(DType dtype, std::int64_t elements, std::uint64_t seed) {
  Random random(seed);
  return fill(dtype, elements, [&](std::int64_t) { return random.normal(); });
}

}  // namespace normd
