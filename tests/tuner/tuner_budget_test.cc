// What a tuning's budget bounds, with candidates and compilers that never end.
#include <algorithm>

#include "tests/tuner/scripted_tuning.h"
#include "tuner/race.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class TunerBudget : public ScriptedTuning {
 protected:
  Result<Tuning> timed(const TuneRequest& request) {
    const auto begun = std::chrono::steady_clock::now();
    auto tuning = tune(*make_tuner(*store_), request);
    took_ = std::chrono::steady_clock::now() - begun;
    return tuning;
  }
  Verdict verdict_of(const Tuning& tuning, std::size_t rank) const {
    for (const Trial& trial : tuning.trials) {
      if (to_text(trial.candidate) == text(100, rank)) return trial.verdict;
    }
    return {};
  }
  std::chrono::duration<double> took_;
};

TEST_F(TunerBudget, a_first_candidate_that_never_compiles_gives_way_to_the_next_as_default) {
  script_->add("compile", source_digest(100, 0), "hang");
  const auto tuning = timed(request_of(100, 1000));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(took_, 1500ms);
  EXPECT_EQ(to_text(tuning->winner->default_candidate), text(100, 1));
  EXPECT_EQ(verdict_of(*tuning, 0).reason, Reason::out_of_budget);
}

TEST_F(TunerBudget, a_candidate_that_never_ends_costs_the_budget_at_most_and_is_not_refused) {
  script_->add("trial", text(100, 3), "hang");
  const auto tuning = timed(request_of(100, 1000));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(took_, 1500ms);
  EXPECT_EQ(verdict_of(*tuning, 3).kind, VerdictKind::not_tried);
  EXPECT_EQ(verdict_of(*tuning, 3).reason, Reason::out_of_budget);
  EXPECT_FALSE(*store_->find_trial(key_of(100), ranked(100)[3], "scripted 1"));
}

TEST_F(TunerBudget, a_candidate_that_takes_a_thousand_copies_is_refused_as_hung) {
  script_->add("trial", text(100, 0), "hang");
  const auto tuning = timed(request_of(100, 3000));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(took_, 3500ms);
  EXPECT_EQ(verdict_of(*tuning, 0).reason, Reason::timeout);
  EXPECT_TRUE(*store_->find_trial(key_of(100), ranked(100)[0], "scripted 1"));
  EXPECT_EQ(to_text(tuning->winner->default_candidate), text(100, 1));
}

TEST_F(TunerBudget, a_race_that_never_ends_is_cut_off_and_the_default_wins) {
  script_->add("sample", "raced", "hang");
  script_->add("sample", text(100, 2), "fast");
  const auto tuning = timed(request_of(100, 1000));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(took_, 1600ms);
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 0));
  EXPECT_FALSE(tuning->winner->measurements.empty());
}

// Six rounds of all six would take twice what is left for the race.
TEST_F(TunerBudget, slow_candidates_race_in_a_smaller_field_so_that_the_race_decides) {
  script_->add("sample", "explored " + text(100, 2), "fast");
  script_->add("sample", "raced " + text(100, 2), "fast");
  script_->add("sample", "explored", "slow 25");  // a first call has warm-ups too
  script_->add("sample", "raced", "slow 8");
  const auto tuning = timed(request_of(100, 2000));
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(took_, 2500ms);
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 2));
  const auto took_part = [](const Trial& trial) {
    return !trial.verdict.measurements.empty() &&
           trial.verdict.measurements.front().samples >= RaceRules().rounds_min;
  };
  EXPECT_LT(std::count_if(tuning->trials.begin(), tuning->trials.end(), took_part), 6);
}

TEST_F(TunerBudget, when_nothing_passes_in_a_budget_and_another_it_ends_with_words) {
  script_->add("compile", source_digest(100, 0), "made");
  script_->add("compile", "", "hang");
  script_->add("trial", "", "refuse");
  const auto tuning = timed(request_of(100, 2100));
  ASSERT_FALSE(tuning);
  EXPECT_GT(took_, 4100ms);
  EXPECT_LT(took_, 4700ms);
  EXPECT_EQ(tuning.error().code, ErrorCode::failed_precondition);
  const std::string& words = tuning.error().message;
  EXPECT_NE(words.find("with a budget of 2100 ms"), std::string::npos) << words;
  EXPECT_NE(words.find("out_of_budget x5"), std::string::npos) << words;
  EXPECT_NE(words.find("wrong_result x1"), std::string::npos) << words;
}

}  // namespace
}  // namespace normd
