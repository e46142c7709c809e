#include "tuner/choice.h"

#include <algorithm>
#include <tuple>

#include "kernels/check.h"

namespace normd {
namespace {

// Timing noise below which "no slower" is not contradicted.
constexpr double even = 0.0025;

const Contender& find(const std::vector<Contender>& contenders, int number) {
  const auto found = std::find_if(contenders.begin(), contenders.end(),
                                  [&](const Contender& one) { return one.number == number; });
  NORMD_CHECK(found != contenders.end());
  return *found;
}

double worst_loss(const Contender& contender, const std::vector<double>& best) {
  double loss = 1;
  for (std::size_t edge = 0; edge < best.size(); ++edge) {
    loss = std::max(loss, contender.edges[edge].median / best[edge]);
  }
  return loss;
}

bool meets(const Contender& one, const Contender& other) {
  for (std::size_t edge = 0; edge < one.edges.size(); ++edge) {
    if (one.edges[edge].low > other.edges[edge].high) return false;
  }
  return true;
}

bool beats(const Contender& one, const Contender& by_default, const std::vector<bool>& deciding,
           double margin) {
  bool faster_somewhere = false;
  for (std::size_t edge = 0; edge < one.edges.size(); ++edge) {
    if (!deciding[edge]) continue;
    const Interval& mine = one.edges[edge];
    const Interval& other = by_default.edges[edge];
    if (mine.median > other.median * (1 + even)) return false;
    const double needed =
        std::max(margin, std::max(mine.relative_width(), other.relative_width()) / 2);
    faster_somewhere |= mine.median < other.median * (1 - needed);
  }
  return faster_somewhere;
}

auto tie_order(const Contender& contender) {
  return std::tie(contender.registers, contender.block, contender.text);
}

}  // namespace

Choice choose(const std::vector<Contender>& contenders, int default_number,
              const std::vector<bool>& deciding, double margin) {
  NORMD_CHECK(!contenders.empty() && contenders.front().edges.size() == deciding.size());
  std::vector<double> best;
  for (std::size_t edge = 0; edge < contenders.front().edges.size(); ++edge) {
    double least = contenders.front().edges[edge].median;
    for (const Contender& one : contenders) least = std::min(least, one.edges[edge].median);
    best.push_back(least);
  }
  const Contender& by_default = find(contenders, default_number);
  const auto may_win = [&](const Contender& one) {
    return one.number == default_number || beats(one, by_default, deciding, margin);
  };
  const Contender* least_loss = &by_default;
  for (const Contender& one : contenders) {
    if (may_win(one) &&
        std::make_tuple(worst_loss(one, best), tie_order(one)) <
            std::make_tuple(worst_loss(*least_loss, best), tie_order(*least_loss))) {
      least_loss = &one;
    }
  }
  std::vector<const Contender*> tied;
  for (const Contender& one : contenders) {
    if (meets(one, *least_loss)) tied.push_back(&one);
  }
  std::sort(tied.begin(), tied.end(),
            [](const Contender* a, const Contender* b) { return tie_order(*a) < tie_order(*b); });

  const auto beating = std::find_if(tied.begin(), tied.end(), [&](const Contender* one) {
    return one->number != default_number && may_win(*one);
  });
  const Contender& winner = beating == tied.end() ? by_default : **beating;
  Choice choice{.winner = winner.number, .ties = {}, .worst_loss = worst_loss(winner, best)};
  for (const Contender* one : tied) {
    if (one->number != winner.number) choice.ties.push_back(one->number);
  }
  return choice;
}

}  // namespace normd
