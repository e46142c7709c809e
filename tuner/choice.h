// The choice: from measured candidates to the winner and its ties, by fixed rules, so that the same
// figures always give the same answer. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "tuner/statistics.h"

namespace normd {

// A candidate as the choice sees it: its time at each measured edge, and what breaks ties.
struct Contender {
  int number = 0;
  std::vector<Interval> edges;
  int registers = 0;
  int block = 0;
  std::string text;  // canonical
};

struct Choice {
  int winner = 0;
  std::vector<int> ties;  // besides the winner: not to be told apart from it
  double worst_loss = 1;  // of the winner: its time over the best time, at its worse edge
};

// A winner must beat the default by more than max(margin, its interval) at some edge that is
// `deciding`, and be no slower at any of these. Of the default and those that do, the one with the
// least worst-case loss over all edges wins. Contenders whose intervals meet its own at every edge
// are ties, broken by fewer registers, smaller block, lower text.
Choice choose(const std::vector<Contender>& contenders, int default_number,
              const std::vector<bool>& deciding, double margin = 0.005);

}  // namespace normd
