#include "tuner/statistics.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"

namespace normd {

Interval median_interval(std::vector<double> samples) {
  NORMD_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  const double median =
      count % 2 == 1 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
  Interval interval{.median = median,
                    .low = samples.front(),
                    .high = samples.back(),
                    .samples = static_cast<int>(count)};
  if (count >= 6) {
    const double n = static_cast<double>(count);
    const double reach = 1.96 * std::sqrt(n) / 2;
    const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
    const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach) - 1));
    interval.low = samples[low];
    interval.high = samples[high];
  }
  return interval;
}

}  // namespace normd
