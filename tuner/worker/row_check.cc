#include "tuner/worker/row_check.h"

#include <algorithm>
#include <vector>

#include "kernels/catalog.h"

namespace normd {
namespace {

CheckRecord together(const CheckRecord& all, const CheckRecord& one) {
  const CheckRecord& worse = one.error_over_bound > all.error_over_bound ? one : all;
  return {.failures = all.failures + one.failures,
          .row = worse.row,
          .column = worse.column,
          .got = worse.got,
          .expected = worse.expected,
          .bound = worse.bound,
          .error_over_bound = worse.error_over_bound,
          .error_max = std::max(all.error_max, one.error_max),
          .error_square_sum = all.error_square_sum + one.error_square_sum,
          .square_sum = all.square_sum + one.square_sum};
}

}  // namespace

std::size_t check_records_bytes() {
  // The checker's grid is bounded by its Launch.
  const std::int64_t blocks_max = grid_blocks(check_rows_launch(), std::int64_t{1} << 40);
  return static_cast<std::size_t>(blocks_max) * sizeof(CheckRecord);
}

Result<CheckRecord> check_rows(Device& device, Kernel& checker, const NormArguments& ran,
                               const Memory& records, const Tolerance& tolerance) {
  const CheckArguments arguments{
      .x = ran.x,
      .gamma = ran.gamma,
      .beta = ran.beta,
      .y = ran.y,
      .mean = ran.mean,
      .rstd = ran.rstd,
      .records = static_cast<CheckRecord*>(records.address()),
      .rows = ran.rows,
      .columns = ran.columns,
      .x_row_stride = ran.x_row_stride,
      .y_row_stride = ran.y_row_stride,
      .sequential_adds =
          tolerance.grade == Grade::exact ? 0.0 : static_cast<double>(tolerance.sequential_adds),
      .epsilon = ran.epsilon,
      .flags = ran.flags};
  std::vector<CheckRecord> found(static_cast<std::size_t>(grid_blocks(checker.launch(), ran.rows)));
  auto done = device.launch({&checker, bytes_of(arguments), ran.rows});
  if (done) {
    done = device.copy_out(found.data(), records.address(), found.size() * sizeof(CheckRecord));
  }
  if (!done) return fail(std::move(done.error()));
  CheckRecord all = found.front();
  for (std::size_t i = 1; i < found.size(); ++i) all = together(all, found[i]);
  return all;
}

}  // namespace normd
