// FarRows: a few rows of x and y that lie so far apart that from the second one on no row offset
// fits in 32 bits, in address space of which only the pages with rows have memory behind them. For
// strided rows, whose strides kernels are told at run time. A kernel that cuts an offset reads or
// writes beside the first row, or where there is nothing. Belongs to its Device's thread.
#pragma once

#include <memory>

#include "tuner/worker/row_check.h"
#include "tuner/worker/workload.h"

namespace normd {

// Whole groups of rows and a partial one for nearly all candidates; each costs a page or two.
inline constexpr std::int64_t far_rows_count = 9;

class FarRows {
 public:
  // Takes x's rows, gamma and beta from `kinds`, a workload of a problem with strided rows, which
  // outlives it. unimplemented: the device has no such memory.
  static Result<FarRows> make(Device& device, const Workload& kinds);

  NormArguments arguments() const;
  // The rows of x as they lie in `kinds`, and poison in y, mean and rstd.
  Result<void> lay();
  Result<CheckRecord> check(Kernel& checker, const Tolerance& tolerance) const;

 private:
  FarRows(Device& device, const Workload& kinds);
  Result<std::unique_ptr<Memory>> allocate(const RowSpan& span) const;
  char* row_address(const Memory& memory, const RowSpan& span, std::int64_t row) const;

  Device* device_;
  const Workload* kinds_;
  BufferSpans spans_;
  std::unique_ptr<Memory> x_, y_, mean_, rstd_, records_;
};

// Bytes of device memory that it takes on pages of a GPU, for deciding before allocating.
double far_rows_bytes(const Problem& problem);

}  // namespace normd
