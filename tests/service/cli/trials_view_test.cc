#include "service/cli/trials_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace normd {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::Trial measured(const std::string& candidate, double median_ns) {
  v1::Trial trial;
  trial.set_candidate(candidate);
  trial.set_verdict("measured");
  v1::Measurement& measurement = *trial.add_measurements();
  measurement.set_rows(256);
  measurement.set_median_ns(median_ns);
  measurement.set_low_ns(median_ns * 0.99);
  measurement.set_high_ns(median_ns * 1.01);
  measurement.set_copy_ns(5'000);
  trial.set_registers(40);
  return trial;
}

std::string key_text() {
  const DeviceSpec spec = *architecture_preset("sm_90");
  const Problem problem{.rows = 200, .columns = 4096};
  return to_text(make_key(problem, spec, make_fingerprint(spec), BucketMode::bucketed));
}

TEST(TrialsView, trials_are_sorted_by_time_and_refusals_come_last_with_their_reason) {
  v1::Trial refused;
  refused.set_candidate("spilling");
  refused.set_verdict("refused");
  refused.set_reason("spills");
  refused.set_detail("64 bytes");
  refused.set_registers(-1);
  const std::string table =
      trials_table({refused, measured("slow", 20'000), measured("fast", 10'000)},
                   {.key = key_text(), .winner = "fast"});
  EXPECT_LT(table.find("fast"), table.find("slow"));
  EXPECT_LT(table.find("slow"), table.find("spilling"));
  EXPECT_THAT(table, HasSubstr("refused spills: 64 bytes"));
  EXPECT_THAT(table, HasSubstr("10.0 us ±1.0 %"));
  // 256 rows of 4096 fp32 elements in and out are 8 MiB and some; in 10 us about 839 GB/s.
  EXPECT_THAT(table, HasSubstr("839"));
  EXPECT_THAT(table, HasSubstr("50 %"));
  EXPECT_THAT(table, HasSubstr("winner"));
}

TEST(TrialsView, the_clock_of_the_headline_is_shown_where_it_is_known) {
  v1::Trial known = measured("known", 10'000);
  known.mutable_measurements(0)->set_sm_clock_mhz(1965);
  const std::string with = trials_table({known}, {.key = key_text()});
  EXPECT_THAT(with, HasSubstr("SM MHz"));
  EXPECT_THAT(with, HasSubstr(" 1965 "));
  const std::string without = trials_table({measured("unknown", 10'000)}, {.key = key_text()});
  EXPECT_THAT(without, Not(HasSubstr(" 0 MHz")));
  EXPECT_THAT(without, HasSubstr("50 %"));
}

TEST(TrialsView, what_was_not_tried_is_counted_by_reason) {
  v1::Trial not_tried;
  not_tried.set_candidate("unlucky");
  not_tried.set_verdict("not_tried");
  not_tried.set_reason("out_of_budget");
  const std::string table =
      trials_table({not_tried, measured("fast", 10'000), not_tried}, {.key = key_text()});
  EXPECT_THAT(table, Not(HasSubstr("unlucky")));
  EXPECT_THAT(table, testing::EndsWith("2 more not tried: out_of_budget\n"));
}

TEST(TrialsView, bars_show_speed_relative_to_the_best) {
  const std::string table = trials_table({measured("slow", 20'000), measured("fast", 10'000)},
                                         {.key = key_text(), .bars = true});
  EXPECT_THAT(table, HasSubstr(std::string(20, '#') + "\n"));
  EXPECT_THAT(table, HasSubstr(" " + std::string(10, '#') + "\n"));
}

TEST(TrialsView, hostile_texts_do_not_reach_the_terminal) {
  v1::Trial trial;
  trial.set_candidate("\x1b]0;title\x07");
  trial.set_verdict("refused");
  trial.set_detail(std::string("\x1b[2J") + std::string(5'000, 'x'));
  const std::string table = trials_table({trial}, {.key = "\x1b", .color = false});
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_LT(table.size(), 1'000u);
  v1::Winner winner;
  winner.set_key("\x1b[2J");
  winner.set_device_name("\x1b[2J");
  winner.set_compiler("\x1b[2J");
  EXPECT_THAT(winner_summary(winner), Not(HasSubstr("\x1b")));
}

TEST(TrialsView, the_headline_is_the_last_time_of_the_most_rows) {
  v1::Trial trial = measured("a", 1);
  v1::Measurement& warm = *trial.add_measurements();
  warm.set_rows(256);
  warm.set_warm(true);
  v1::Measurement& fewer = *trial.add_measurements();
  fewer.set_rows(1);
  EXPECT_EQ(headline(trial.measurements())->rows(), 256);
  EXPECT_TRUE(headline(trial.measurements())->warm());
  EXPECT_EQ(headline(v1::Trial().measurements()), nullptr);
}

TEST(TrialsView, tensors_are_described_by_what_differs_from_x) {
  Problem problem{.x = DType::bf16, .y = DType::bf16, .gamma = DType::bf16, .beta = DType::bf16};
  EXPECT_EQ(describe_tensors(problem), "bf16");
  problem.y = DType::fp32;
  problem.gamma = DType::fp32;
  problem.beta = std::nullopt;
  problem.stats = Stats::mean_rstd;
  EXPECT_EQ(describe_tensors(problem), "bf16->fp32 gamma:fp32 no-beta +mean_rstd");
}

}  // namespace
}  // namespace normd
