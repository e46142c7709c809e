// A stored winner is measured again, and nothing else is done.
#include <future>
#include <thread>

#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class Remeasuring : public ScriptedTuning {
 protected:
  void SetUp() override {
    tuner_ = make_tuner(*store_);
    const auto tuning = tune(*tuner_, request_of(100));
    ASSERT_TRUE(tuning) << tuning.error().message;
    winner_ = *tuning->winner;
    binary_ = **store_->find_binary(winner_.binary_digest);
  }

  std::unique_ptr<Tuner> tuner_;
  Winner winner_;
  Binary binary_;
};

TEST_F(Remeasuring, the_winner_is_measured_at_each_edge_beside_the_copy_and_nothing_is_stored) {
  const auto trials = *store_->find_trials(winner_.key);
  script_->add("sample", "raced " + to_text(winner_.candidate), "fast");
  const auto now = tuner_->remeasure(winner_, binary_, {});
  ASSERT_TRUE(now) << now.error().message;
  ASSERT_EQ(now->size(), winner_.measurements.size());
  for (std::size_t edge = 0; edge < now->size(); ++edge) {
    EXPECT_EQ((*now)[edge].rows, winner_.measurements[edge].rows);
    EXPECT_EQ((*now)[edge].cache, winner_.measurements[edge].cache);
    EXPECT_EQ((*now)[edge].copy_ns, winner_.measurements[edge].copy_ns);
    EXPECT_LT((*now)[edge].median_ns, winner_.measurements[edge].median_ns * 0.7);
    EXPECT_GE((*now)[edge].samples, 6);
  }
  EXPECT_EQ(*store_->find_trials(winner_.key), trials);
  EXPECT_EQ(**store_->find_winner(winner_.key), winner_);
  EXPECT_EQ(tuner_->counters().tunings, 1);
  EXPECT_EQ(tuner_->counters().compiles, 6);
}

TEST_F(Remeasuring, a_worker_that_is_lost_says_nothing_and_the_next_time_is_well) {
  script_->add("sample", "", "die", 1);
  EXPECT_FALSE(tuner_->remeasure(winner_, binary_, {}));
  EXPECT_TRUE(tuner_->remeasure(winner_, binary_, {}));
}

// However long it would take: to prepare, to load, or to measure.
TEST_F(Remeasuring, a_stop_ends_it_within_a_moment) {
  const std::vector<std::pair<std::string, std::string>> slow = {
      {"prepare", "hang"}, {"reload", "hang"}, {"sample", "slow 100"}};
  for (const auto& [verb, action] : slow) {
    script_->clear();
    script_->add(verb, "", action);
    std::stop_source stop;
    auto measuring = std::async(
        std::launch::async, [&] { return tuner_->remeasure(winner_, binary_, stop.get_token()); });
    std::this_thread::sleep_for(150ms);
    const auto asked = std::chrono::steady_clock::now();
    stop.request_stop();
    const auto measured = measuring.get();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 1s) << verb << "; a few milliseconds";
    ASSERT_FALSE(measured) << verb;
    EXPECT_EQ(measured.error().code, ErrorCode::unavailable) << measured.error().message;
  }
  script_->clear();
  EXPECT_TRUE(tuner_->remeasure(winner_, binary_, {})) << "the worker is there again";
}

}  // namespace
}  // namespace normd
