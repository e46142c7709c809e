#include "tuner/tuner.h"

#include <algorithm>

#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

class TunerTest : public ScriptedTuning {};

TEST_F(TunerTest, the_fastest_wins_over_the_default_and_a_second_tuning_finds_it_stored) {
  script_->add("sample", text(100, 2), "fast");
  const auto tuner = make_tuner(*store_);
  const auto tuning = tune(*tuner, request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 2));
  EXPECT_EQ(to_text(tuning->winner->default_candidate), text(100, 0));
  EXPECT_EQ(tuning->compiles, 6);
  const auto again = tune(*tuner, request_of(100));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->from_store);
  EXPECT_EQ(tuner->counters().tunings, 1);
}

TEST_F(TunerTest, who_tunes_learns_the_clock_and_how_many_rounds_counted) {
  script_->add("sample", "raced control", "held hw_power_brake", 1);
  TuneProgress last;
  const auto tuning =
      make_tuner(*store_)->tune(request_of(100), [&](const TuneProgress& now) { last = now; }, {});
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->rounds_kept, tuning->winner->measurements.front().samples);
  EXPECT_EQ(tuning->rounds_discarded, 1);
  EXPECT_EQ(last.rounds_kept, tuning->rounds_kept);
  EXPECT_EQ(last.rounds_discarded, 1);
  const auto stored = *store_->find_winner(key_of(100));
  ASSERT_TRUE(stored);
  for (const Measurement& measurement : stored->measurements) {
    EXPECT_EQ(measurement.sm_clock_mhz, 1980);
  }
}

TEST_F(TunerTest, what_is_timed_but_not_raced_has_its_clock_too) {
  TuneRequest request = request_of(100);
  request.candidates_max = 10;
  const auto tuning = tune(*make_tuner(*store_), request);
  ASSERT_TRUE(tuning) << tuning.error().message;
  int not_raced = 0;
  for (const Trial& trial : tuning->trials) {
    for (const Measurement& measurement : trial.verdict.measurements) {
      EXPECT_EQ(measurement.sm_clock_mhz, 1980);
      not_raced += measurement.samples == 2;
    }
  }
  EXPECT_GT(not_raced, 0);
}

TEST_F(TunerTest, every_trial_is_kept_also_where_candidates_share_a_binary) {
  script_->add("compile", "", "same");
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  ASSERT_EQ(tuning->trials.size(), 6u);
  const auto stored = *store_->find_trials(key_of(100));
  ASSERT_EQ(stored.size(), 6u);
  int shared = 0;
  for (const Trial& trial : stored) {
    EXPECT_EQ(trial.verdict.measurements, tuning->winner->measurements) << "of the race";
    shared += trial.verdict.detail.find("the same binary as") != std::string::npos;
  }
  EXPECT_EQ(shared, 5);
}

TEST_F(TunerTest, every_refusal_is_kept_also_where_candidates_share_a_binary) {
  script_->add("compile", source_digest(100, 0), "apart");
  script_->add("compile", "", "same");
  for (std::size_t rank = 1; rank < 6; ++rank) script_->add("trial", text(100, rank), "refuse");
  const auto tuning = tune(*make_tuner(*store_), request_of(100));
  ASSERT_TRUE(tuning) << tuning.error().message;
  const auto stored = *store_->find_trials(key_of(100));
  EXPECT_EQ(stored.size(), 6u);
  EXPECT_EQ(std::count_if(
                stored.begin(), stored.end(),
                [](const Trial& trial) { return trial.verdict.reason == Reason::wrong_result; }),
            5);
}

TEST_F(TunerTest, a_key_that_another_process_tunes_is_left_at_once_and_its_winner_serves) {
  const auto other_store = *Store::open(directory_ + "/store", Store::Mode::read_write);
  auto lease = *other_store->try_lease(key_of(100), 10'000);
  ASSERT_TRUE(lease);
  const auto tuner = make_tuner(*store_);
  TuneRequest request = request_of(100);
  request.again = true;
  const auto progress = [](const TuneProgress&) {};
  const auto elsewhere = tuner->tune_unless_elsewhere(request, progress, {});
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  EXPECT_FALSE(*elsewhere);
  EXPECT_EQ(tuner->counters().tunings, 0);

  lease.reset();
  ASSERT_TRUE(tune(*make_tuner(*other_store), request_of(100)));
  request.was_elsewhere = true;
  const auto found = tuner->tune_unless_elsewhere(request, progress, {});
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->from_store);
  EXPECT_EQ(tuner->counters().tunings, 0);
}

// Two devices of one make are told apart by their identity, which no key holds.
TEST_F(TunerTest, a_like_device_finds_the_winner_and_compiles_nothing) {
  ASSERT_TRUE(tune(*make_tuner(*store_), request_of(100)));
  Tuner other({.store = store_.get(),
               .worker = worker(),
               .device = "made up too",
               .spec = spec_,
               .identity = {.name = "made up", .uuid = "another", .ordinal = 1},
               .compile_workers = 1,
               .turn_directory = directory_ + "/turn",
               .tuned_by = "test"});
  const auto found = tune(other, request_of(100));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->from_store);
  EXPECT_EQ(found->compiles, 0);
  EXPECT_EQ(other.counters().tunings, 0);
}

TEST_F(TunerTest, a_waiting_tuner_ends_when_it_is_stopped) {
  const auto other_store = *Store::open(directory_ + "/store", Store::Mode::read_write);
  const auto lease = *other_store->try_lease(key_of(100), 10'000);
  std::stop_source stop;
  stop.request_stop();
  const auto tuning = make_tuner(*store_)->tune(
      request_of(100), [](const TuneProgress&) {}, stop.get_token());
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, ErrorCode::unavailable);
}

// The real worker, its compiler and the host device: one tuning, and what is stored of it.
TEST_F(TunerTest, on_the_host_device_a_tuning_ends_with_a_stored_winner) {
  const DeviceSpec spec = host_device_spec();
  Tuner tuner({.store = store_.get(),
               .worker = {program(), "real"},
               .device = "host",
               .spec = spec,
               .identity = {.name = "host", .uuid = "host", .driver = "none"},
               .compile_workers = 2,
               .turn_directory = directory_ + "/turn",
               .tuned_by = "test"});
  TuneRequest request = request_of(4, 20'000);
  request.candidates_max = 2;
  const auto tuning = tune(tuner, request);
  ASSERT_TRUE(tuning) << tuning.error().message;
  const Key key = make_key(request.problem, spec, make_fingerprint(spec), BucketMode::bucketed);
  EXPECT_EQ(**store_->find_winner(key), *tuning->winner);
  EXPECT_EQ(store_->find_trials(key)->size(), 2u);
  EXPECT_TRUE(tune(tuner, request)->from_store);
}

}  // namespace
}  // namespace normd
