// What a tuning makes of workers that die: whose fault it was, what goes on, and what is left.
#include <algorithm>

#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

class TunerFailures : public ScriptedTuning {
 protected:
  std::optional<Trial> stored(std::int64_t columns, std::size_t rank) {
    return *store_->find_trial(key_of(columns), ranked(columns)[rank], "scripted 1");
  }
};

// Every binary that the second tuning tried was made of its own sources.
TEST_F(TunerFailures, nothing_of_a_failed_tuning_reaches_the_next_one) {
  script_->add("trial", "", "die");
  script_->add("compile", "", "slow 100");
  const auto tuner = make_tuner(*store_);
  TuneRequest failing = request_of(100, 10'000);
  failing.candidates_max = 40;
  const auto failed = tune(*tuner, failing);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::failed_precondition) << failed.error().message;
  script_->clear();

  TuneRequest request = request_of(4);
  request.candidates_max = 3;
  const auto tuning = tune(*tuner, request);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->compiles, 3);
  ASSERT_EQ(tuning->trials.size(), 3u);
  for (const Trial& trial : tuning->trials) {
    const Source source = render(trial.candidate, request.problem, spec_);
    EXPECT_EQ(trial.binary_digest, sha256_hex("binary of " + source.digest));
    EXPECT_EQ(trial.verdict.kind, VerdictKind::measured);
  }
}

TEST_F(TunerFailures, a_death_in_the_race_that_does_not_repeat_costs_one_round) {
  script_->add("sample", "raced", "die", 1);
  const auto tuner = make_tuner(*store_);
  const auto tuning = tune(*tuner, request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(script_->followed(0), 1u);
  EXPECT_EQ(tuner->counters().workers_restarted, 1);
  EXPECT_EQ(tuner->counters().refusals, 0);
  for (const Trial& trial : tuning->trials) {
    EXPECT_EQ(trial.verdict.kind, VerdictKind::measured);
    EXPECT_GE(trial.verdict.measurements.front().samples, 6);
  }
}

TEST_F(TunerFailures, whoever_kills_the_worker_in_the_race_is_refused_and_the_race_goes_on) {
  script_->add("sample", text(100, 2), "fast");
  script_->add("compile", source_digest(100, 1), "same");
  script_->add("compile", source_digest(100, 3), "same");
  for (const std::size_t rank : {1, 3}) {
    script_->add("sample", "raced " + text(100, rank), "die");
    script_->add("sample", "alone " + text(100, rank), "die");
  }
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 2));
  for (const std::size_t rank : {1, 3}) {
    const auto culprit = stored(100, rank);  // both: they are one binary
    ASSERT_TRUE(culprit);
    EXPECT_EQ(culprit->verdict.kind, VerdictKind::refused);
    EXPECT_EQ(culprit->verdict.reason, Reason::fault);
    EXPECT_NE(culprit->verdict.detail.find("Killed"), std::string::npos) << culprit->verdict.detail;
  }
  for (const std::size_t rank : {0, 2, 4, 5}) {
    EXPECT_EQ(stored(100, rank)->verdict.kind, VerdictKind::measured) << rank;
  }
}

TEST_F(TunerFailures, when_the_default_falls_in_the_race_the_next_in_rank_takes_its_place) {
  script_->add("sample", "raced " + text(100, 0), "die");
  script_->add("sample", "alone " + text(100, 0), "die");
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(stored(100, 0)->verdict.reason, Reason::fault);
  EXPECT_EQ(to_text(tuning->winner->default_candidate), text(100, 1));
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 1));
}

TEST_F(TunerFailures,
       a_device_that_is_held_back_all_the_time_has_no_winner_and_the_error_says_why) {
  script_->add("sample", "raced control", "held sw_thermal_slowdown");
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, ErrorCode::unavailable);
  EXPECT_NE(tuning.error().message.find("device busy"), std::string::npos);
  EXPECT_NE(tuning.error().message.find("held back: sw_thermal_slowdown x7"), std::string::npos)
      << tuning.error().message;
  EXPECT_FALSE(*store_->find_winner(key_of(100)));
}

// Also where each is sampled in a call of its own, since a worker has died.
TEST_F(TunerFailures, one_racer_that_was_held_back_spoils_its_round) {
  script_->add("sample", "raced", "die", 1);
  script_->add("sample", "alone " + text(100, 0), "held hw_slowdown", 1);
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_GE(tuning->rounds_kept, 6);
  EXPECT_EQ(tuning->rounds_discarded, 1);
}

TEST_F(TunerFailures, a_control_copy_that_dies_once_is_measured_again) {
  script_->add("sample", "alone control", "die", 1);
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(script_->followed(0), 1u);
}

TEST_F(TunerFailures, a_tuning_that_fails_by_itself_does_not_ask_to_be_tried_again) {
  script_->add("sample", "alone control", "die");
  auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, ErrorCode::internal) << tuning.error().message;
  script_->clear();
  script_->add("prepare", "", "die");
  tuning = tune(*make_tuner(*store_), request_of(101));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, ErrorCode::internal) << tuning.error().message;
  script_->clear();
  script_->add("sample", "raced", "die");
  script_->add("sample", "alone", "die");
  tuning = tune(*make_tuner(*store_), request_of(102));
  ASSERT_FALSE(tuning);
  EXPECT_NE(tuning.error().code, ErrorCode::unavailable) << tuning.error().message;
}

// Wrong bytes in two processes are stored as settled and not looked at again; in one of two, the
// candidate has another chance in the next tuning.
TEST_F(TunerFailures, wrong_bytes_are_settled_once_two_processes_saw_them) {
  script_->add("trial", text(100, 1), "refuse");
  script_->add("trial", text(100, 2), "refuse", 1);
  const auto tuner = make_tuner(*store_);
  ASSERT_TRUE(tune(*tuner, request_of(100)));
  EXPECT_EQ(script_->followed(0), 2u);
  EXPECT_EQ(stored(100, 1)->sightings, 2);
  EXPECT_TRUE(is_settled(*stored(100, 1)));
  EXPECT_EQ(stored(100, 2)->verdict.reason, Reason::wrong_result);
  EXPECT_EQ(stored(100, 2)->sightings, 1);
  EXPECT_FALSE(is_settled(*stored(100, 2)));

  TuneRequest request = request_of(100);
  request.again = true;
  ASSERT_TRUE(tune(*tuner, request));
  EXPECT_EQ(script_->followed(0), 2u);
  EXPECT_EQ(stored(100, 2)->verdict.kind, VerdictKind::measured);
}

TEST_F(TunerFailures, a_worker_that_died_between_two_tunings_is_started_again) {
  const auto tuner = make_tuner(*store_);
  ASSERT_TRUE(tune(*tuner, request_of(100)));
  script_->add("prepare", "", "die", 1);
  const auto tuning = tune(*tuner, request_of(101));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(script_->followed(0), 1u);
}

}  // namespace
}  // namespace normd
