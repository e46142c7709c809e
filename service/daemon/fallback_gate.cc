#include <array>
#include <cmath>

#include "kernels/tolerance.h"
#include "service/daemon/launching.h"

namespace normd {
namespace {

constexpr std::int64_t gate_rows = 3;
// Neither a power of two nor a multiple of any vector, and more than one pass of a block.
constexpr std::int64_t gate_columns = 1237;
constexpr float gate_epsilon = 1e-5f;

// Values that differ by row and column, around a mean that is large against the spread.
std::vector<std::byte> some_values(DType dtype, std::int64_t count, double middle, double spread) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_bytes(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const double wave = std::sin(0.7 * static_cast<double>(i) + 0.01 * static_cast<double>(i % 97));
    store_element(dtype, bytes.data(), static_cast<std::size_t>(i), middle + spread * wave);
  }
  return bytes;
}

Result<void> gate_one(Device& device, DeviceTurn& turn, TransferArea& area,
                      const ServedKernelPointer& fallback, DType dtype) {
  const Problem problem{.rows = gate_rows,
                        .columns = gate_columns,
                        .x = dtype,
                        .y = dtype,
                        .gamma = dtype,
                        .beta = DType::fp32,
                        .stats = Stats::mean_rstd};
  const auto x = some_values(dtype, gate_rows * gate_columns, 10.0, 2.0);
  const auto gamma = some_values(dtype, gate_columns, 1.0, 0.5);
  const auto beta = some_values(DType::fp32, gate_columns, 0.0, 3.0);
  // Outputs start as NaN patterns: what the kernel leaves unwritten cannot pass.
  std::vector<std::byte> y(x.size(), std::byte{0xff});
  std::array<float, gate_rows> mean;
  std::array<float, gate_rows> rstd;
  mean.fill(NAN);
  rstd.fill(NAN);
  const ServeJob job{.kernel = fallback,
                     .problem = problem,
                     .x_row_stride = gate_columns,
                     .epsilon = gate_epsilon,
                     .tensors = {.x = {x},
                                 .gamma = {gamma},
                                 .beta = {beta},
                                 .y = y,
                                 .mean = std::as_writable_bytes(std::span(mean)),
                                 .rstd = std::as_writable_bytes(std::span(rstd))}};
  if (auto served = serve(device, turn, area, job); !served) return fail(std::move(served.error()));
  const Comparison comparison = compare(
      problem,
      {.x = x.data(),
       .gamma = gamma.data(),
       .beta = beta.data(),
       .x_row_stride = gate_columns,
       .epsilon = gate_epsilon},
      {.y = y.data(), .mean = mean.data(), .rstd = rstd.data(), .y_row_stride = gate_columns},
      Tolerance{}, 0, gate_rows);
  if (comparison.failure.empty()) return {};
  return fail(ErrorCode::internal, "the fallback kernel computes wrongly for " + to_text(problem) +
                                       ": " + comparison.failure);
}

}  // namespace

Result<void> gate_fallback(Device& device, DeviceTurn& turn, TransferArea& area,
                           const ServedKernelPointer& fallback) {
  for (const DType dtype : all_dtypes) {
    if (auto passed = gate_one(device, turn, area, fallback, dtype); !passed) return passed;
  }
  return {};
}

}  // namespace normd
