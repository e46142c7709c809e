// The bounds that every served answer keeps against the float64 reference, and the looser ones of
// the teaching templates. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/problem.h"
#include "kernels/reference.h"
#include "kernels/template.h"

namespace normd {

// How far a grade may stray. taught: 2 * 2^-24 * max(1, |mean| * rstd) * sequential_adds more,
// since a thread that adds s values in a row loses that much; the data can make the bound
// meaningless.
struct Tolerance {
  Grade grade = Grade::exact;
  std::int64_t sequential_adds = 0;
};

// Largest error allowed for one y: (2e-6 + widening) * |gamma| * (1 + |normalised|) + 2e-6 *
// |beta|, plus half a unit in the last place of a 16-bit output. `widening` comes from
// taught_widening().
double y_bound(const Problem& problem, double expected, double normalised, double gamma,
               double beta, double widening);
// Absolute: 1e-6 * row_max_abs, plus widening / rstd, plus the smallest fp32, below which nothing
// can be told apart.
double mean_bound(double row_max_abs, double widening, double rstd);
double rstd_bound(double expected, double widening);  // absolute: (1e-6 + widening) * expected

// 0 for grade exact. Above widening_max the row does not gate that template: compare() leaves it
// out. A row whose mean is NaN or infinite has the widening of a row around zero.
double taught_widening(const Tolerance& tolerance, double mean, double rstd);
inline constexpr double widening_max = 0.1;

// error / bound, the measure that every comparison uses; more than 1 is a failure. NaN matches only
// NaN and infinity only the same infinity (both give 0, a mismatch gives infinity), but where the
// expected value is so near the end of the dtype's range that an answer within the bound may round
// to infinity, that infinity gives 1.
double error_over_bound(DType dtype, double got, double expected, double bound);

// Relative L2 error allowed over all of y: 3e-7 (fp32), 2.2e-4 (fp16), 1.8e-3 (bf16). The 16-bit
// figures are those of correct rounding over many different values; where y has few, correct
// rounding alone may pass them, and is allowed. It binds grade exact; the widened bounds of a
// taught template are per element.
double relative_l2_bound(DType y);

// Whether the mean counts at all. A taught template may give NaN where the mean is infinite: a
// running mean takes infinity from infinity.
bool mean_counts(Grade grade, double got, double expected);

// What one comparison found; `failure` is empty if every value was within its bound.
struct Comparison {
  std::int64_t elements = 0;    // of y that were compared
  double error_max = 0;         // of y, absolute
  double error_over_bound = 0;  // the largest ratio seen, of y, mean and rstd
  double relative_l2 = 0;
  std::string failure;  // names output, row, column, got, expected, bound of the worst
};

// Host outputs in the problem's dtypes; y_row_stride in elements; mean and rstd null if unwanted.
struct HostOutputs {
  const void* y = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  std::int64_t y_row_stride = 0;
};

// Compares all rows, or those of `rows_begin` to `rows_end`, one past the last. `tensors.x` is the
// input as it was before the kernel ran.
Comparison compare(const Problem& problem, const HostTensors& tensors, const HostOutputs& outputs,
                   const Tolerance& tolerance, std::int64_t rows_begin, std::int64_t rows_end);

}  // namespace normd
