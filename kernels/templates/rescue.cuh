// The rare path of the exact templates, for rows that float statistics cannot carry: squares that
// overflow or vanish, NaN and infinity, a spread at the rounding noise of the mean (a constant
// row), epsilon zero. The threads that share the row read it again from memory, where x is not yet
// overwritten, take the plain two-pass in double, and round each output once.
#pragma once

#include "double_sum.cuh"

namespace normd {

// Row says how a row is read and written: compiled_row.cuh for columns and types that are compiled
// in, any_element.cuh for run-time ones.

// Whether the double path must take the row. `e` is what the first mean was off by. For v =
// variance
// + epsilon to be good to 1e-6 the squares must lie well inside the range of float, and the spread
// must not drown in e; an all-zero row (e exactly 0) is fine as it is.
NORMD_DEVICE bool needs_rescue(float variance, float e, float v) {
  const bool in_range = v >= 1e-30f && v <= 3.402823466e38f;  // false for NaN
  return !in_range || (e != 0.0f && variance <= e * e);
}

// All `threads` threads of the row call this, as do all threads of their warp (or barrier); nothing
// is written for a row that is not `wanted`. `member` is the thread's number among those of the
// row.
template <typename Row, int threads, typename Barrier = BlockBarrier>
NORMD_DEVICE_CALL void rescue_row(const NormArguments& arguments, long long row, int member,
                                  bool wanted, double* scratch, Barrier barrier = {}) {
  const long long count = Row::columns_of(arguments);
  double sum = 0;
#pragma unroll 1
  for (long long i = member; i < count; i += threads) sum += Row::load(arguments, row, i);
  const double mean = double_sum<threads>(sum, scratch, barrier) / static_cast<double>(count);
  double squares = 0;
#pragma unroll 1
  for (long long i = member; i < count; i += threads) {
    const double deviation = Row::load(arguments, row, i) - mean;
    squares += deviation * deviation;
  }
  const double variance =
      double_sum<threads>(squares, scratch, barrier) / static_cast<double>(count);
  const double rstd = 1.0 / square_root(variance + static_cast<double>(arguments.epsilon));
  if (!wanted) return;
#pragma unroll 1
  for (long long i = member; i < count; i += threads) {
    Row::store(arguments, row, i, (Row::load(arguments, row, i) - mean) * rstd);
  }
  if (member == 0) {
    Row::store_statistics(arguments, row, static_cast<float>(mean), static_cast<float>(rstd));
  }
}

}  // namespace normd
