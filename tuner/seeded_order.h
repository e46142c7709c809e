// The order in which a tuning tries the candidates of a key that was tuned before: the old ranking
// first. It never decides which of them is the default. Pure function; any thread.
#pragma once

#include <vector>

#include "tuner/trial.h"

namespace normd {

// Numbers of `ranked`, each once: the old winner; the first in rank, which is the default unless it
// fails, and which the tuning needs early to compare with; the winner's ties; the old trials, which
// come best first; and the rest in rank.
std::vector<int> seeded_order(const std::vector<Candidate>& ranked, const Winner& old_winner,
                              const std::vector<Trial>& old_trials);

}  // namespace normd
