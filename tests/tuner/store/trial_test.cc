#include "tuner/trial.h"

#include <gtest/gtest.h>

#include <limits>

namespace normd {
namespace {

TEST(TrialTest, every_reason_has_one_name_that_reads_back) {
  int reasons = 0;
  for (int number = 0; number < 256; ++number) {
    const auto reason = static_cast<Reason>(number);
    if (reason_name(reason).empty()) continue;
    ++reasons;
    EXPECT_EQ(parse_reason(reason_name(reason)), reason);
  }
  EXPECT_EQ(reasons, 17);
  EXPECT_EQ(reason_name(Reason::guard_overwritten), "guard_overwritten");
  EXPECT_EQ(parse_reason("bad luck"), std::nullopt);
  EXPECT_EQ(parse_reason(""), std::nullopt);
}

TEST(TrialTest, verdicts_and_cache_states_read_back) {
  for (const auto kind : {VerdictKind::measured, VerdictKind::refused, VerdictKind::not_tried}) {
    EXPECT_EQ(parse_verdict_kind(verdict_kind_name(kind)), kind);
  }
  for (const auto cache : {CacheState::cold, CacheState::warm}) {
    EXPECT_EQ(parse_cache_state(cache_state_name(cache)), cache);
  }
  EXPECT_EQ(parse_verdict_kind("maybe"), std::nullopt);
  EXPECT_EQ(parse_cache_state("lukewarm"), std::nullopt);
}

TEST(TrialTest, a_refusal_is_settled_by_two_processes_unless_the_compiler_gave_it) {
  const auto settled = [](VerdictKind kind, Reason reason, int sightings) {
    return is_settled({.verdict = {.kind = kind, .reason = reason}, .sightings = sightings});
  };
  for (int number = 1; number < 20; ++number) {
    const auto reason = static_cast<Reason>(number);
    if (reason_name(reason).empty()) continue;
    const bool by_text = reason == Reason::compile_error || reason == Reason::spills;
    EXPECT_EQ(settled(VerdictKind::refused, reason, 1), by_text) << reason_name(reason);
    EXPECT_TRUE(settled(VerdictKind::refused, reason, 2)) << reason_name(reason);
  }
  EXPECT_TRUE(settled(VerdictKind::measured, Reason::none, 1));
  EXPECT_FALSE(settled(VerdictKind::not_tried, Reason::out_of_memory, 5));
}

TEST(TrialTest, a_measurement_has_one_text_and_it_reads_back_exactly) {
  Measurement measurement{.rows = 4096,
                          .cache = CacheState::warm,
                          .median_ns = 0.1 + 0.2,
                          .low_ns = 5e-324,
                          .high_ns = std::numeric_limits<double>::infinity(),
                          .samples = 31,
                          .copy_ns = 12500};
  EXPECT_EQ(to_text(measurement),
            "rows=4096 cache=warm median_ns=0.30000000000000004 low_ns=5e-324 high_ns=inf "
            "samples=31 copy_ns=12500");
  EXPECT_EQ(*parse_measurement(to_text(measurement)), measurement);
  EXPECT_EQ(*parse_measurement(to_text(Measurement{})), Measurement{});
}

// Stores hold texts from before the clock was read; those stay as they are.
TEST(TrialTest, a_clock_ends_a_measurements_text_where_it_is_known) {
  const std::string before = "rows=1 cache=cold median_ns=2 low_ns=1 high_ns=3 samples=6 copy_ns=2";
  Measurement measurement = *parse_measurement(before);
  EXPECT_EQ(measurement.sm_clock_mhz, 0);
  EXPECT_EQ(to_text(measurement), before);
  measurement.sm_clock_mhz = 1980;
  EXPECT_EQ(to_text(measurement), before + " sm_clock_mhz=1980");
  EXPECT_EQ(*parse_measurement(to_text(measurement)), measurement);
}

TEST(TrialTest, a_measurement_that_is_none_is_refused_with_its_field) {
  const struct {
    const char* text;
    const char* field;
  } cases[] = {
      {"rows=-1 cache=cold median_ns=1 low_ns=1 high_ns=1 samples=1 copy_ns=0", "rows"},
      {"rows=1 cache=tepid median_ns=1 low_ns=1 high_ns=1 samples=1 copy_ns=0", "cache"},
      {"rows=1 cache=cold median_ns=nan low_ns=1 high_ns=1 samples=1 copy_ns=0", "median_ns"},
      {"rows=1 cache=cold median_ns=1 low_ns=-1 high_ns=1 samples=1 copy_ns=0", "low_ns"},
      {"rows=1 cache=cold median_ns=1 low_ns=1 high_ns=1 samples=3000000000 copy_ns=0", "samples"},
      {"rows=1 cache=cold median_ns=1 low_ns=1 high_ns=1 samples=1", "copy_ns"},
      {"rows=1 cache=cold median_ns=1 low_ns=1 high_ns=1 samples=1 copy_ns=0 sm_clock_mhz=0",
       "sm_clock_mhz"},
  };
  for (const auto& entry : cases) {
    const auto parsed = parse_measurement(entry.text);
    ASSERT_FALSE(parsed) << entry.text;
    EXPECT_EQ(parsed.error().field, entry.field) << parsed.error().message;
  }
  EXPECT_FALSE(parse_measurement(to_text(Measurement{}) + " more=1"));
}

}  // namespace
}  // namespace normd
