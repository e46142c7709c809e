// The numbers behind a measurement: a median with its confidence interval, and nothing that needs a
// clock or a device. Pure functions; any thread.
#pragma once

#include <vector>

namespace normd {

// A median and the 95 % confidence interval around it.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
  int samples = 0;

  double relative_width() const { return median > 0 ? (high - low) / median : 0; }
};

// The interval between order statistics that holds the median with 95 % confidence, whatever the
// distribution (binomial bounds in the normal approximation, as in Conover, Practical Nonparametric
// Statistics). Fewer than six samples give their extremes. At least one sample.
Interval median_interval(std::vector<double> samples);

}  // namespace normd
