// How soon the cost model's order comes to the best candidate: per shape, what the first 1, 10, 20
// candidates reach of the best of all that were measured. Pure functions; any thread.
#pragma once

#include <string>

#include "bench/trial_file.h"

namespace normd {

inline constexpr int order_counts[] = {1, 5, 10, 20, 40};

struct ShapeOrder {
  Problem problem;
  int candidates = 0;
  double best_ns = 0;
  double copy_ns = 0;
  std::string best;  // canonical text
  int position = 0;  // of the best in the order, from 1; 0: the order leaves it out
  // The best time of all over the best of the first order_counts[i].
  std::vector<double> reached;
};

// Without shapes of which the order leaves out all that was measured.
std::vector<ShapeOrder> orders_of(const TrialFile& file);

// A line per shape, then the geometric means.
std::string order_table(const std::vector<ShapeOrder>& orders);

}  // namespace normd
