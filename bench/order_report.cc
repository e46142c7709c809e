#include "bench/order_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "kernels/catalog.h"

namespace normd {
namespace {

template <typename... Values>
std::string printed(const char* format, Values... values) {
  char line[400];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

// None: the order leaves out all that was measured. What it leaves out counts for the best of all.
std::optional<ShapeOrder> order_of(const std::vector<MeasuredTrial>& all, const DeviceSpec& spec) {
  std::map<std::string, const MeasuredTrial*> measured;
  for (const MeasuredTrial& trial : all) measured.emplace(to_text(trial.candidate), &trial);
  std::vector<const MeasuredTrial*> placed;  // in the order
  for (const Candidate& candidate : ranked_candidates(all.front().problem, spec)) {
    const auto found = measured.find(to_text(candidate));
    if (found != measured.end()) placed.push_back(found->second);
  }
  if (placed.empty()) return std::nullopt;
  const MeasuredTrial& best = *std::ranges::min_element(all, {}, &MeasuredTrial::median_ns);
  const auto place = std::ranges::find(placed, &best);
  ShapeOrder order{
      .problem = best.problem,
      .candidates = static_cast<int>(all.size()),
      .best_ns = best.median_ns,
      .copy_ns = best.copy_ns,
      .best = to_text(best.candidate),
      .position = place == placed.end() ? 0 : static_cast<int>(place - placed.begin()) + 1,
      .reached = {}};
  for (const int count : order_counts) {
    const auto end = placed.begin() + std::min<std::ptrdiff_t>(count, std::ssize(placed));
    const auto first = std::ranges::min_element(placed.begin(), end, {}, &MeasuredTrial::median_ns);
    order.reached.push_back(best.median_ns / (*first)->median_ns);
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
    if (auto order = order_of({left.begin(), others}, file.spec)) {
      orders.push_back(std::move(*order));
    }
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
