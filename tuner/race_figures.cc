#include "tuner/race_figures.h"

namespace normd {

std::vector<Measurement> measurements_of(const Race& race, int number,
                                         const std::vector<MeasuredEdge>& edges) {
  std::vector<Measurement> measurements;
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    const Interval& interval = race.intervals(number)[edge];
    measurements.push_back({.rows = edges[edge].rows,
                            .cache = edges[edge].cache,
                            .median_ns = interval.median,
                            .low_ns = interval.low,
                            .high_ns = interval.high,
                            .samples = interval.samples,
                            .copy_ns = race.intervals(control_copy)[edge].median,
                            .sm_clock_mhz = race.sm_clock_mhz(number, edge)});
  }
  return measurements;
}

}  // namespace normd
