#include "service/cli/explanation.h"

#include <gtest/gtest.h>

#include "kernels/source.h"

namespace normd {
namespace {

AskedProblem asked() {
  return {.problem = {.rows = 200, .columns = 4096, .x = DType::bf16, .y = DType::bf16},
          .mode = BucketMode::bucketed};
}

ListedWinner listed(const AskedProblem& of, std::int64_t number, const char* architecture) {
  const DeviceSpec spec = *architecture_preset(architecture);
  ListedWinner winner{.number = number};
  winner.winner.set_key(to_text(make_key(of.problem, spec, make_fingerprint(spec), of.mode)));
  return winner;
}

TEST(Explanation, a_key_hits_on_every_device_it_is_tuned_on) {
  const Explanation found =
      explain(asked(), {listed(asked(), 1, "sm_80"), listed(asked(), 2, "sm_90")});
  ASSERT_EQ(found.hits.size(), 2u);
  EXPECT_EQ(found.hits[1].number, 2);
  EXPECT_TRUE(found.nearest_key.empty());
}

TEST(Explanation, every_field_that_differs_is_named) {
  AskedProblem other = asked();
  other.problem = {.rows = 1,
                   .columns = 4097,
                   .x = DType::fp16,
                   .y = DType::fp32,
                   .gamma = DType::fp32,
                   .beta = DType::fp32,
                   .stats = Stats::mean,
                   .rows_layout = RowsLayout::strided,
                   .align_bytes = 4};
  other.mode = BucketMode::single_row_count;
  const Explanation found = explain(asked(), {listed(other, 1, "sm_90")});
  EXPECT_TRUE(found.hits.empty());
  const std::vector<std::string> expected = {
      "rows: 200, stored 1..1",    "columns: 4096, stored 4097",
      "x: bf16, stored fp16",      "y: bf16, stored fp32",
      "gamma: none, stored fp32",  "beta: none, stored fp32",
      "stats: none, stored mean",  "rows_layout: contiguous, stored strided",
      "align_bytes: 16, stored 4", "mode: bucketed, stored single_row_count"};
  EXPECT_EQ(found.differing_fields, expected);
}

TEST(Explanation, the_nearest_key_differs_in_the_fewest_fields_then_in_the_width_least) {
  AskedProblem far = asked();
  far.problem.columns = 128;
  AskedProblem near = asked();
  near.problem.columns = 4000;
  AskedProblem two_fields = asked();
  two_fields.problem.x = two_fields.problem.y = DType::fp32;
  const ListedWinner expected = listed(near, 2, "sm_90");
  const Explanation found =
      explain(asked(), {listed(far, 1, "sm_90"), expected, listed(two_fields, 3, "sm_90")});
  EXPECT_EQ(found.nearest_key, expected.winner.key());
  EXPECT_EQ(found.differing_fields, (std::vector<std::string>{"columns: 4096, stored 4000"}));
}

TEST(Explanation, keys_that_do_not_parse_are_passed_over) {
  ListedWinner strange{.number = 1};
  strange.winner.set_key("written by a newer program");
  EXPECT_TRUE(explain(asked(), {strange}).nearest_key.empty());
}

TEST(Explanation, a_winner_of_a_changed_or_unknown_text_is_stale) {
  v1::Winner winner;
  winner.set_candidate("sub_warp lanes=8");
  winner.set_template_digest(template_digest("sub_warp"));
  EXPECT_EQ(stale_because(winner), "");
  winner.set_template_digest("0123");
  EXPECT_NE(stale_because(winner).find("has changed"), std::string::npos);
  winner.set_candidate("no_such_template lanes=8");
  EXPECT_NE(stale_because(winner).find("no template no_such_template"), std::string::npos);
  winner.set_candidate("");
  EXPECT_NE(stale_because(winner), "");
}

}  // namespace
}  // namespace normd
