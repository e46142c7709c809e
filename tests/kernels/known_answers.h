// Inputs that broke other people's LayerNorm, with the right answers as printed numbers: the truth
// that the reference and every kernel on every device are held to. The answers come from exact
// rational statistics on inputs rounded to their dtype. Constant data; included by tests only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/tolerance.h"

namespace normd {

// One y as printed. `printed` is what its digits leave open; 0 means this value and no other.
struct KnownY {
  std::int64_t row = 0;
  std::int64_t column = 0;
  double value = 0;
  double printed = 0;
};

struct KnownStatistics {
  std::int64_t row = 0;
  double mean = 0;
  double rstd = 0;
};

struct KnownAnswer {
  std::string name;  // the symptom that it provokes
  Problem problem;
  float epsilon = 1e-5f;
  std::vector<double> x;      // rows x columns; rounded when stored
  std::vector<double> gamma;  // empty: none
  std::vector<double> beta;
  std::vector<KnownY> y;
  std::vector<KnownStatistics> statistics;
  // Absolute error of y that a taught template may have; none: its arithmetic cannot carry the row.
  std::optional<double> taught_error = 1e-4;
};

std::vector<KnownAnswer> known_answers();

// Whether a y that a kernel of grade exact gave is the known one; and the same for a taught
// template whose bound is `widening` looser, of which beyond widening_max only a finite number is
// asked.
bool is_known_y(const KnownAnswer& answer, const KnownY& known, double got);
bool is_near_known_y(const KnownAnswer& answer, const KnownY& known, double got, double widening);

// The same for the statistics that a kernel of grade exact gave.
bool are_known_statistics(const KnownStatistics& known, double mean, double rstd);

}  // namespace normd
