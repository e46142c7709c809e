#include "tests/kernels/known_answers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace normd {
namespace {

constexpr double seven_digits = 5e-8;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <typename Value>
std::vector<double> row_of(std::int64_t columns, Value value) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < columns; ++i) row.push_back(value(i));
  return row;
}

std::vector<double> alternating(std::int64_t columns, double even, double odd) {
  return row_of(columns, [=](std::int64_t i) { return i % 2 == 0 ? even : odd; });
}

std::vector<double> from(double first, std::int64_t columns) {
  return row_of(columns, [=](std::int64_t i) { return first + static_cast<double>(i); });
}

// One row of one dtype with both statistics asked for.
KnownAnswer one_row(std::string name, DType dtype, std::vector<double> x) {
  KnownAnswer answer{.name = std::move(name), .problem = {}, .x = std::move(x)};
  answer.problem = Problem{.rows = 1,
                           .columns = static_cast<std::int64_t>(answer.x.size()),
                           .x = dtype,
                           .y = dtype,
                           .gamma = {},
                           .beta = {},
                           .stats = Stats::mean_rstd,
                           .align_bytes = static_cast<int>(size_bytes(dtype))};
  return answer;
}

using Answers = std::vector<KnownAnswer>;

// The variance as mean of squares minus square of the mean.
void add_large_means(Answers& all) {
  struct Case {
    double centre, first, last, taught;
  };
  for (const Case& c :
       {Case{100, -1.3415277, 1.3413571, 1e-3}, Case{1000, -1.3415078, 1.3442372, 6e-3},
        Case{10000, -1.3313334, 1.3313334, 0.095}}) {
    KnownAnswer answer = one_row(
        "sixteen steps of 0.001 at " + std::to_string(int(c.centre)), DType::fp32,
        row_of(16, [&](std::int64_t i) { return c.centre + static_cast<double>(i) / 1000; }));
    answer.y = {{0, 0, c.first, seven_digits}, {0, 15, c.last, seven_digits}};
    answer.taught_error = c.taught;
    all.push_back(answer);
  }
  for (const double first : {40000.0, 80000.0}) {
    KnownAnswer answer =
        one_row("four steps of 1 at " + std::to_string(int(first)), DType::fp32, from(first, 4));
    answer.y = {{0, 0, -1.3416355, seven_digits},
                {0, 1, -0.4472118, seven_digits},
                {0, 2, 0.4472118, seven_digits},
                {0, 3, 1.3416355, seven_digits}};
    answer.statistics = {{0, first + 1.5, 0.89442361}};
    answer.taught_error = 0.02;  // the mean's own rounding, 2^-24 of 80001.5, over a spread of 1.1
    all.push_back(answer);
  }
}

// First elements far from the mean: deviations from them drown the squares.
void add_far_beginnings(Answers& all) {
  for (const DType dtype : all_dtypes) {
    KnownAnswer answer = one_row("three of 4096 first in " + std::string(dtype_name(dtype)), dtype,
                                 alternating(1024, 0, 1));
    std::fill_n(answer.x.begin(), 3, 4096.0);
    for (const auto& [column, y] :
         {std::pair{2, 18.4480785}, {3, -0.0519492682}, {4, -0.05646698}}) {
      const double rounding = dtype == DType::fp32 ? 0 : std::fabs(rounded_to(dtype, y) - y);
      answer.y.push_back({0, column, y, seven_digits * std::fabs(y) + rounding});
    }
    answer.statistics = {{0, 12.4990234375, 0.00451771131}};
    all.push_back(answer);
  }
}

// Rows of equal values: the variance slips below zero, or a tiny epsilon is lost.
void add_equal_values(Answers& all) {
  const auto constant = [](double value) { return [=](std::int64_t) { return value; }; };
  KnownAnswer answer = one_row("all 1234", DType::fp32, row_of(256, constant(1234)));
  answer.y = {{0, 0, 0, 0}, {0, 100, 0, 0}, {0, 255, 0, 0}};
  answer.statistics = {{0, 1234, 316.22777}};
  answer.taught_error = 0.1;
  all.push_back(answer);

  answer = one_row("all zero, epsilon 1e-12", DType::fp16, row_of(10, constant(0)));
  answer.epsilon = 1e-12f;
  answer.y = {{0, 0, 0, 0}, {0, 9, 0, 0}};
  answer.statistics = {{0, 0, 1e6}};
  all.push_back(answer);

  answer = one_row("all 0.1", DType::fp32, row_of(3000, constant(0.1)));
  answer.y = {{0, 0, 0, 0}, {0, 1234, 0, 0}, {0, 2999, 0, 0}};
  answer.statistics = {{0, static_cast<double>(0.1f), 316.22777}};
  answer.taught_error = 1e-3;
  all.push_back(answer);

  // epsilon 0 is taken as it is: a constant row has no answer, and the row after it is untouched.
  answer = one_row("a constant row before a ramp, epsilon 0", DType::fp32, from(0, 8));
  answer.x.insert(answer.x.begin(), 8, 3.0);
  answer.problem.rows = 2;
  answer.epsilon = 0;
  answer.y = {{0, 0, nan, 0},
              {0, 7, nan, 0},
              {1, 0, -1.5275252, seven_digits},
              {1, 3, -0.2182179, seven_digits},
              {1, 7, 1.5275252, seven_digits}};
  answer.statistics = {{0, 3, infinity}, {1, 3.5, 0.43643578}};
  all.push_back(answer);
}

// Squares that overflow the dtype of x, or fp32.
void add_large_values(Answers& all) {
  KnownAnswer answer =
      one_row("alternating 30000 in fp16", DType::fp16, alternating(64, 30000, -30000));
  answer.y = {{0, 0, 1, 0}, {0, 1, -1, 0}, {0, 63, -1, 0}};
  answer.statistics = {{0, 0, 3.3333333e-5}};
  all.push_back(answer);
  answer = one_row("alternating 30000 in bf16", DType::bf16, alternating(64, 30000, -30000));
  answer.y = {{0, 0, 1, 0}, {0, 1, -1, 0}};
  all.push_back(answer);

  std::vector<double> one_out(1024, 60000);
  one_out.back() = -60000;
  answer = one_row("one of 1024 at -60000 in fp16", DType::fp16, one_out);
  answer.y = {{0, 0, 0.03128, 1e-6}, {0, 1022, 0.03128, 1e-6}, {0, 1023, -31.984, 5e-4}};
  answer.statistics = {{0, 59882.8125, 1 / std::sqrt(14048767.09)}};
  all.push_back(answer);
  answer = one_row("one of 1024 at -60000 in bf16", DType::bf16, one_out);
  answer.y = {{0, 0, 0.03125, 1e-9}, {0, 1023, -32, 1e-9}};
  all.push_back(answer);

  for (const double m : {1e18, 1e19, 1e20, 1e30}) {
    answer = one_row("alternating m and 2m, squares overflow fp32", DType::fp32,
                     alternating(512, m, 2 * m));
    answer.y = {{0, 0, -1, 1e-4}, {0, 1, 1, 1e-4}, {0, 511, 1, 1e-4}};
    answer.statistics = {{0, 1.5 * m, 2 / m}};
    answer.taught_error = std::nullopt;
    all.push_back(answer);
  }
}

// Subnormal numbers, flushed to zero by fast arithmetic.
void add_small_values(Answers& all) {
  KnownAnswer answer =
      one_row("the smallest halves, epsilon 1e-12", DType::fp16, alternating(8, 0x1p-24, -0x1p-24));
  answer.epsilon = 1e-12f;
  answer.y = {{0, 0, 0.0595093, seven_digits}, {0, 7, -0.0595093, seven_digits}};
  answer.statistics = {{0, 0, 998228.4}};
  all.push_back(answer);

  answer = one_row("1e-20, epsilon 0", DType::fp32, alternating(8, 1e-20, -1e-20));
  answer.epsilon = 0;
  answer.y = {{0, 0, 1, 1e-6}, {0, 7, -1, 1e-6}};
  answer.statistics = {{0, 0, 1e20}};
  answer.taught_error = std::nullopt;
  all.push_back(answer);

  answer = one_row("subnormal floats", DType::fp32, alternating(8, 1e-40, -1e-40));
  answer.y = {{0, 0, 3.16226e-38, 1e-43}, {0, 7, -3.16226e-38, 1e-43}};
  answer.taught_error = 1e-42;
  all.push_back(answer);
}

// Widths that are no power of two: padding counted, or columns past a tile left out.
void add_odd_widths(Answers& all) {
  KnownAnswer answer = one_row("three columns", DType::fp32, from(101, 3));
  answer.y = {{0, 0, -1.2247357, seven_digits}, {0, 1, 0, 1e-12}, {0, 2, 1.2247357, seven_digits}};
  answer.taught_error = 1e-3;
  all.push_back(answer);
  answer = one_row("seventeen columns", DType::fp32, from(100, 17));
  answer.y = {{0, 0, -1.6329929, seven_digits}, {0, 8, 0, 1e-12}, {0, 16, 1.6329929, seven_digits}};
  all.push_back(answer);
  struct Ramp {
    std::int64_t columns;
    double last;
  };
  for (const Ramp& ramp : {Ramp{513, 1.7286778}, Ramp{1536, 1.7309235}, Ramp{65537, 1.7320244},
                           Ramp{100003, 1.7320335}}) {
    answer = one_row("ramp of " + std::to_string(ramp.columns), DType::fp32, from(0, ramp.columns));
    answer.y = {{0, 0, -ramp.last, seven_digits}, {0, ramp.columns - 1, ramp.last, seven_digits}};
    all.push_back(answer);
  }
}

// One column: nothing is left of x, whatever gamma is.
void add_one_column(Answers& all) {
  for (const bool with_beta : {true, false}) {
    KnownAnswer answer =
        one_row(with_beta ? "one column" : "one column, no beta", DType::fp32, {-3, 0.1, 1e30});
    answer.problem.rows = 3;
    answer.problem.columns = 1;
    answer.problem.gamma = DType::fp32;
    answer.gamma = {1e20};
    if (with_beta) answer.problem.beta = DType::fp32;
    if (with_beta) answer.beta = {-1};
    answer.epsilon = 0.1f;
    for (const std::int64_t row : {0, 1, 2}) {
      answer.y.push_back({row, 0, with_beta ? -1.0 : 0.0, 0});
      const double x = rounded_to(DType::fp32, answer.x[static_cast<std::size_t>(row)]);
      answer.statistics.push_back({row, x, 3.1622777});
    }
    all.push_back(answer);
  }
}

// gamma and beta each with and without the other.
void add_affine(Answers& all) {
  struct Case {
    bool gamma, beta;
    double y[4];
  };
  const Case cases[] = {
      {false, false, {-1.3416355, -0.4472118, 0.4472118, 1.3416355}},
      {true, false, {-1.3416355, -0.8944236, 1.3416355, 5.3665419}},
      {false, true, {8.6583643, 19.5527878, 30.4472122, 41.3416367}},
      {true, true, {8.6583643, 19.1055756, 31.3416348, 45.3665428}},
  };
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const Case& c : cases) {
      KnownAnswer answer =
          one_row(std::string("affine in ") + std::string(dtype_name(dtype)), dtype, from(1, 4));
      if (c.gamma) answer.problem.gamma = dtype;
      if (c.gamma) answer.gamma = {1, 2, 3, 4};
      if (c.beta) answer.problem.beta = dtype;
      if (c.beta) answer.beta = {10, 20, 30, 40};
      for (const std::int64_t column : {0, 1, 2, 3}) {
        const double y = c.y[column];
        // The printed digits, and in bf16 the rounding of what was printed in full.
        const double rounding = dtype == DType::fp32 ? 0 : std::fabs(rounded_to(dtype, y) - y);
        answer.y.push_back({0, column, y, seven_digits + rounding});
      }
      answer.statistics = {{0, 2.5, 0.8944236}};
      all.push_back(answer);
    }
  }
}

}  // namespace

std::vector<KnownAnswer> known_answers() {
  Answers all;
  add_large_means(all);
  add_far_beginnings(all);
  add_equal_values(all);
  add_large_values(all);
  add_small_values(all);
  add_odd_widths(all);
  add_one_column(all);
  add_affine(all);
  return all;
}

bool is_known_y(const KnownAnswer& answer, const KnownY& known, double got) {
  if (std::isnan(known.value)) return std::isnan(got);
  const double error = std::fabs(got - known.value);
  if (known.printed == 0) return error == 0;
  const DType dtype = answer.problem.y;
  const double unit = dtype == DType::fp32 ? 0.0 : unit_in_last_place(dtype, known.value);
  // Numbers far below 1 are right to as many digits as were printed.
  const double arithmetic = 4e-6 * std::fabs(known.value) + (known.printed < 1e-9 ? 0 : 4e-6);
  return error <= known.printed + unit + arithmetic;
}

bool is_near_known_y(const KnownAnswer& answer, const KnownY& known, double got, double widening) {
  if (std::isnan(known.value)) return std::isnan(got);
  if (widening > widening_max) return std::isfinite(got);
  double gamma_max = 1;
  for (const double gamma : answer.gamma) gamma_max = std::max(gamma_max, std::fabs(gamma));
  const DType dtype = answer.problem.y;
  const double unit = dtype == DType::fp32 ? 0.0 : unit_in_last_place(dtype, known.value);
  const double widened = widening * gamma_max * (1 + std::fabs(known.value));
  const double error = std::fabs(got - known.value);
  return error <= known.printed + unit + std::max(answer.taught_error.value(), widened);
}

bool are_known_statistics(const KnownStatistics& known, double mean, double rstd) {
  const auto near = [](double got, double value) {
    return got == value || std::fabs(got - value) <= 1.1e-6 * std::fabs(value);
  };
  return near(mean, known.mean) && near(rstd, known.rstd);
}

}  // namespace normd
