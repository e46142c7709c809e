#include "bench/order_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "kernels/catalog.h"
#include "kernels/cost_model.h"

namespace normd {

std::string_view measured_trials(std::string_view name);  // embedded

namespace {

DeviceSpec h200() {
  DeviceSpec spec = *architecture_preset("sm_90");
  spec.sm_count = 132;
  return spec;
}

// Every candidate of the shape, each as fast as the model says but for the one at `place` (from 0)
// of its order, which is twice as fast as the first.
TrialFile made_up(std::size_t place) {
  TrialFile file{.spec = h200()};
  const Problem problem{.rows = 4096, .columns = 1024, .gamma = DType::fp32, .beta = DType::fp32};
  std::vector<Candidate> ranked = ranked_candidates(problem, file.spec);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const double estimate = estimated_ns(ranked[i], problem, file.spec);
    const double first = estimated_ns(ranked[0], problem, file.spec);
    file.trials.push_back({problem, ranked[i], i == place ? first / 2 : estimate, 100});
  }
  return file;
}

TEST(OrderReport, says_where_in_the_order_the_best_is_and_what_comes_before_it_reaches) {
  for (const std::size_t place : {0ul, 3ul, 12ul}) {
    const std::vector<ShapeOrder> orders = orders_of(made_up(place));
    ASSERT_EQ(orders.size(), 1u);
    EXPECT_EQ(orders[0].position, static_cast<int>(place) + 1);
    for (std::size_t i = 0; i < orders[0].reached.size(); ++i) {
      const bool there = order_counts[i] > static_cast<int>(place);
      EXPECT_NEAR(orders[0].reached[i], there ? 1.0 : 0.5, 1e-9) << place << " " << order_counts[i];
    }
  }
}

// A trial that the order leaves out is no part of its first candidates, but may be the best of all.
TEST(OrderReport, what_the_order_leaves_out_can_only_lower_what_it_reaches) {
  TrialFile file = made_up(0);
  const Problem problem = file.trials[0].problem;
  for (const Candidate& candidate : all_ranked_candidates(problem, file.spec)) {
    if (candidate.values.back() != std::pair<std::string, int>("x_evict_last", 1)) continue;
    file.trials.insert(file.trials.begin(),
                       {problem, candidate, file.trials[0].median_ns / 2, 100});
    break;
  }
  const std::vector<ShapeOrder> orders = orders_of(file);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].position, 0);
  for (const double reached : orders[0].reached) EXPECT_NEAR(reached, 0.5, 1e-9);

  file.trials.erase(file.trials.begin() + 1, file.trials.end());
  EXPECT_TRUE(orders_of(file).empty());
}

TEST(OrderReport, the_means_are_geometric_over_the_shapes) {
  std::vector<ShapeOrder> orders = orders_of(made_up(12));
  orders.push_back(orders[0]);
  orders[0].reached.assign(std::size(order_counts), 0.25);
  orders[1].reached.assign(std::size(order_counts), 1.0);
  EXPECT_NE(order_table(orders).find("geometric mean                                   0.500"),
            std::string::npos)
      << order_table(orders);
}

TEST(TrialFileTest, lines_come_back_and_a_wrong_one_is_named) {
  const TrialFile file = made_up(3);
  std::string text = "# a comment\n" + device_line(file.spec) + "\n";
  for (const MeasuredTrial& trial : file.trials) text += trial_line(trial) + "\n";
  const auto read = parse_trial_file(text, "f.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->spec, file.spec);
  ASSERT_EQ(read->trials.size(), file.trials.size());
  EXPECT_EQ(to_text(read->trials[5].candidate), to_text(file.trials[5].candidate));
  const auto outdated = parse_trial_file(text + "fp32,1,2,3,4,no_such_template threads=1\n", "f");
  ASSERT_TRUE(outdated) << outdated.error().message;
  EXPECT_EQ(outdated->outdated, 1);
  const auto refused = parse_trial_file(text + "fp32,1,2,3,zero,sub_warp\n", "f.csv");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.rfind("f.csv:" + std::to_string(file.trials.size() + 3), 0), 0u)
      << refused.error().message;
}

// The goal: ten candidates come within 3 % of the best of all.
TEST(OrderReport, the_first_ten_of_what_was_measured_on_an_h200_nearly_reach_the_best) {
  const auto file = parse_trial_file(measured_trials("trials-h200.csv"), "trials-h200.csv");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->outdated, 0) << "what an axis more leaves of the file says little of the order";
  const std::vector<ShapeOrder> orders = orders_of(*file);
  ASSERT_GE(orders.size(), 20u);
  double product = 1;
  for (const ShapeOrder& order : orders) product *= order.reached[2];
  EXPECT_GE(std::pow(product, 1.0 / static_cast<double>(orders.size())), 0.97);
}

}  // namespace
}  // namespace normd
