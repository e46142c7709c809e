#include "kernels/reference.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"

namespace normd {

RowStatistics row_statistics(std::span<const double> values) {
  NORMD_CHECK(!values.empty());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  RowStatistics row{.mean_high = sum / count};

  // Stored elements have at most 24 significant bits, so up to 2^29 of one size add up in a double
  // without any rounding, and compensated summation would buy nothing. What the division rounds off
  // the mean comes back as the sum of the deviations, which is zero but for that.
  double deviation_sum = 0;
  double square_sum = 0;
  for (const double value : values) {
    const double deviation = value - row.mean_high;
    deviation_sum += deviation;
    square_sum += deviation * deviation;
  }
  const double low = deviation_sum / count;
  const double variance = square_sum / count - low * low;
  // An infinite mean stays what it is; infinity minus itself would make it NaN.
  row.mean_low = std::isfinite(row.mean_high) ? low : 0.0;
  row.variance = variance < 0 ? 0.0 : variance;
  return row;
}

void reference_row(const Problem& problem, const HostTensors& tensors, std::int64_t row,
                   ReferenceRow& out) {
  NORMD_CHECK(problem.columns > 0 && row >= 0 && tensors.x_row_stride >= problem.columns);
  const auto columns = static_cast<std::size_t>(problem.columns);
  const std::size_t begin = static_cast<std::size_t>(row * tensors.x_row_stride);
  out.normalised.resize(columns);
  out.y.resize(columns);
  out.x_max_abs = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    out.normalised[i] = load_element(problem.x, tensors.x, begin + i);
    out.x_max_abs = std::max(out.x_max_abs, std::fabs(out.normalised[i]));
  }

  const RowStatistics statistics = row_statistics(out.normalised);
  out.mean = statistics.mean_high + statistics.mean_low;
  out.rstd = 1.0 / std::sqrt(statistics.variance + static_cast<double>(tensors.epsilon));
  for (std::size_t i = 0; i < columns; ++i) {
    const double deviation = out.normalised[i] - statistics.mean_high - statistics.mean_low;
    out.normalised[i] = deviation * out.rstd;
    const double gamma = problem.gamma ? load_element(*problem.gamma, tensors.gamma, i) : 1.0;
    const double beta = problem.beta ? load_element(*problem.beta, tensors.beta, i) : 0.0;
    out.y[i] = out.normalised[i] * gamma + beta;
  }
}

}  // namespace normd
