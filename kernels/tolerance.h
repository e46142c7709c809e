// The bounds that every served answer keeps against the float64 reference, and the looser ones of
// the teaching templates. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/problem.h"
#include "kernels/reference.h"
#include "kernels/template.h"

namespace normd {

// How far a grade may stray. taught: 2 * 2^-24 * max(1, |mean| * rstd) * sequential_adds more, since
// a thread that adds s values in a row loses that much; the data can make the bound meaningless.
struct Tolerance {
  Grade grade = Grade::exact;
  std::int64_t sequential_adds = 0;
};

// Largest error allowed for one y: 2e-6 * (|gamma| * (1 + |normalised|) + |beta|), plus half a unit
// in the last place of a 16-bit output. `widening` comes from taught_widening().
double y_bound(const Problem& problem, double expected, double normalised, double gamma,
               double beta, double widening);
double mean_bound(double row_max_abs, double widening, double rstd);  // absolute
double rstd_bound(double expected, double widening);                  // absolute

// 0 for grade exact. Above 0.1 the row does not gate that template.
double taught_widening(const Tolerance& tolerance, double mean, double rstd);

// Relative L2 error allowed over all of y: 3e-7 (fp32), 2.2e-4 (fp16), 1.8e-3 (bf16).
double relative_l2_bound(DType y);

// What one comparison found; `failure` is empty if every value was within its bound.
struct Comparison {
  std::int64_t elements = 0;
  double error_max = 0;          // of y, absolute
  double error_over_bound = 0;   // the largest ratio seen
  double relative_l2 = 0;
  std::string failure;           // names output, row, column, got, expected, bound
};

// Host outputs in the problem's dtypes; y_row_stride in elements; mean and rstd null if unwanted.
struct HostOutputs {
  const void* y = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  std::int64_t y_row_stride = 0;
};

// Compares all rows, or those of `rows_begin` to `rows_end`. NaN matches only NaN and infinity only
// the same infinity.
Comparison compare(const Problem& problem, const HostTensors& tensors, const HostOutputs& outputs,
                   const Tolerance& tolerance, std::int64_t rows_begin, std::int64_t rows_end);

}  // namespace normd
