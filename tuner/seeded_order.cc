#include "tuner/seeded_order.h"

#include <map>
#include <string>

namespace normd {

std::vector<int> seeded_order(const std::vector<Candidate>& ranked, const Winner& old_winner,
                              const std::vector<Trial>& old_trials) {
  std::map<std::string, int> left;  // not taken yet, by text
  for (const Candidate& candidate : ranked) left.emplace(to_text(candidate), left.size());
  std::vector<int> order;
  const auto take = [&](const Candidate& candidate) {
    const auto found = left.find(to_text(candidate));
    if (found == left.end()) return;
    order.push_back(found->second);
    left.erase(found);
  };
  take(old_winner.candidate);
  if (!ranked.empty()) take(ranked.front());
  for (const Candidate& tie : old_winner.ties) take(tie);
  for (const Trial& trial : old_trials) take(trial.candidate);
  for (const Candidate& candidate : ranked) take(candidate);
  return order;
}

}  // namespace normd
