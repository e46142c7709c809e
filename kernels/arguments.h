// NormArguments: the one argument of every kernel. Host code, the rendered kernel texts and later
// clients that launch on their own streams all compile this header, so it includes nothing and its
// layout never changes within a version; the asserts in each rendered text hold it.
#pragma once

namespace normd {

constexpr int norm_arguments_version = 2;

// Pointers are device addresses, aligned to their element; null where the Problem has no such
// tensor. y is exactly x or does not overlap it. Strides are in elements, at least `columns`. What
// every kernel reads comes first, so that it lies in one line of the constant cache, which is cold
// at the begin of a launch: the first 48 bytes on sm_90, where a second line costs 1 to 3 % of a
// launch that takes two microseconds.
struct NormArguments {
  const void* x;      // rows x columns
  const void* gamma;  // columns
  const void* beta;   // columns
  void* y;            // rows x columns
  long long rows;
  float epsilon;      // added to the variance; finite and not negative
  unsigned flags;     // bits of argument_flags(), read by any_columns only
  float* mean;        // rows
  float* rstd;        // rows
  void* workspace;    // as the Launch says: zero, or as the launch before left it
  long long columns;  // as compiled in, or read at run time by any_columns
  long long x_row_stride;
  long long y_row_stride;
};

static_assert(sizeof(void*) == 8, "64-bit addresses");
static_assert(sizeof(NormArguments) == 96, "the layout is a promise");
static_assert(alignof(NormArguments) == 8, "the layout is a promise");

// Four bits each for the element types of x, y, gamma and beta: 0 none, 1 fp32, 2 fp16, 3 bf16.
// Only host code makes them.
#if !defined(__CUDACC_RTC__)
constexpr unsigned argument_flags(int x, int y, int gamma, int beta) {
  return static_cast<unsigned>(x | (y << 4) | (gamma << 8) | (beta << 12));
}
#endif

}  // namespace normd
