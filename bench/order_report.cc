#include "bench/order_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "kernels/catalog.h"

namespace normd {
namespace {

template <typename... Values>
std::string printed(const char* format, Values... values) {
  char line[400];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

ShapeOrder order_of(std::vector<MeasuredTrial> trials, const DeviceSpec& spec) {
  std::map<std::string, int> places;
  for (const Candidate& candidate : ranked_candidates(trials.front().problem, spec)) {
    places.emplace(to_text(candidate), static_cast<int>(places.size()));
  }
  // What the order leaves out counts for the best of all, behind everything that it has.
  const auto place_of = [&](const MeasuredTrial& trial) {
    const auto found = places.find(to_text(trial.candidate));
    return found == places.end() ? static_cast<int>(places.size()) : found->second;
  };
  std::stable_sort(trials.begin(), trials.end(),
                   [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  const auto faster = [](const auto& a, const auto& b) { return a.median_ns < b.median_ns; };
  const auto best = std::min_element(trials.begin(), trials.end(), faster);
  ShapeOrder order{.problem = best->problem,
                   .candidates = static_cast<int>(trials.size()),
                   .best_ns = best->median_ns,
                   .copy_ns = best->copy_ns,
                   .best = to_text(best->candidate),
                   .position = static_cast<int>(best - trials.begin()) + 1,
                   .reached = {}};
  for (const int count : order_counts) {
    const auto end = trials.begin() + std::min<std::ptrdiff_t>(count, std::ssize(trials));
    order.reached.push_back(best->median_ns /
                            std::min_element(trials.begin(), end, faster)->median_ns);
  }
  return order;
}

}  // namespace

std::vector<ShapeOrder> orders_of(const TrialFile& file) {
  std::vector<ShapeOrder> orders;
  std::vector<MeasuredTrial> left = file.trials;
  while (!left.empty()) {
    const Problem problem = left.front().problem;
    const auto others =
        std::stable_partition(left.begin(), left.end(),
                              [&](const MeasuredTrial& trial) { return trial.problem == problem; });
    orders.push_back(order_of({left.begin(), others}, file.spec));
    left.erase(left.begin(), others);
  }
  return orders;
}

std::string order_table(const std::vector<ShapeOrder>& orders) {
  std::string text = printed("%-18s %9s %8s %5s", "shape", "best, us", "of copy", "place");
  for (const int count : order_counts) text += printed("  first %-2d", count);
  text += "  best candidate\n";
  std::vector<double> logarithms(std::size(order_counts), 0.0);
  for (const ShapeOrder& order : orders) {
    const std::string shape = std::to_string(order.problem.rows) + "x" +
                              std::to_string(order.problem.columns) + " " +
                              std::string(dtype_name(order.problem.x));
    text += printed("%-18s %9.2f %8.3f %2d/%-3d", shape.c_str(), order.best_ns / 1e3,
                    order.copy_ns / order.best_ns, order.position, order.candidates);
    for (std::size_t i = 0; i < order.reached.size(); ++i) {
      text += printed("  %8.3f", order.reached[i]);
      logarithms[i] += std::log(order.reached[i]);
    }
    text += "  " + order.best + "\n";
  }
  text += printed("%-18s %9s %8s %5s ", "geometric mean", "", "", "");
  for (const double sum : logarithms) {
    text += printed("  %8.3f",
                    std::exp(sum / static_cast<double>(std::max<std::size_t>(1, orders.size()))));
  }
  return text + "\n";
}

}  // namespace normd
