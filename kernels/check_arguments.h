// CheckArguments and CheckRecord: what the checking kernel (templates/check_rows.cuh) takes and
// gives. It compares every element of an answer with the float64 definition on the device, by the
// bounds of tolerance.h. Compiled by host code and by the kernel text alike; includes nothing.
#pragma once

namespace normd {

// One per block of the checking grid: the rows that the block looked at, taken together.
struct CheckRecord {
  long long failures;         // elements, means and rstds outside their bound
  long long row;              // of the worst element by error over bound; -1: none looked at
  long long column;           // -1: the mean, -2: the rstd
  double got;
  double expected;
  double bound;
  double error_over_bound;    // the largest; infinity for a NaN where a number belongs
  double error_max;           // of y, absolute
  double error_square_sum;    // of y
  double square_sum;          // of the expected y
};

// Pointers and strides as in NormArguments; x is the input as it was before the kernel ran.
struct CheckArguments {
  const void* x;
  const void* gamma;
  const void* beta;
  const void* y;
  const float* mean;          // null if unwanted
  const float* rstd;          // null if unwanted
  CheckRecord* records;       // one per block
  long long rows;
  long long columns;
  long long x_row_stride;
  long long y_row_stride;
  double sequential_adds;     // 0: grade exact; else of the taught template
  float epsilon;
  unsigned flags;             // argument_flags() of arguments.h
};

static_assert(sizeof(CheckRecord) == 80, "copied back as bytes");
static_assert(sizeof(CheckArguments) == 104, "the layout is shared with kernel texts");

}  // namespace normd
