// A key that was tuned before is tuned again in the order of the old ranking, by the ordinary
// rules.
#include <algorithm>

#include "kernels/catalog_digest.h"
#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

class SeededTuning : public ScriptedTuning {
 protected:
  // The first tuning, whose winner is the candidate of this rank.
  void tune_first(std::size_t winning_rank) {
    script_->add("sample", text(100, winning_rank), "fast");
    const auto tuning = tune(*make_tuner(*store_), request_of(100));
    ASSERT_TRUE(tuning) << tuning.error().message;
    ASSERT_EQ(to_text(tuning->winner->candidate), text(100, winning_rank));
    script_->clear();
  }
  TuneRequest again() const {
    TuneRequest request = request_of(100);
    request.again = true;
    return request;
  }
};

TEST_F(SeededTuning, the_winner_says_what_the_catalog_offered) {
  tune_first(0);
  EXPECT_EQ((*store_->find_winner(key_of(100)))->catalog_digest,
            catalog_digest(key_of(100), spec_));
}

// Whoever is tried first is refused; all others pass.
TEST_F(SeededTuning, the_old_winner_is_tried_first_and_the_default_stays_the_cost_models) {
  tune_first(4);
  script_->add("reload", "", "refuse", 1);
  script_->add("sample", text(100, 4), "fast");
  const auto tuning = tune(*make_tuner(*store_), again());
  ASSERT_TRUE(tuning) << tuning.error().message;
  const auto refused =
      std::find_if(tuning->trials.begin(), tuning->trials.end(),
                   [](const Trial& trial) { return trial.verdict.kind == VerdictKind::refused; });
  ASSERT_NE(refused, tuning->trials.end());
  EXPECT_EQ(to_text(refused->candidate), text(100, 4));
  EXPECT_EQ(to_text(tuning->winner->default_candidate), text(100, 0));
}

TEST_F(SeededTuning, the_old_winner_stays_unless_another_beats_it_in_a_race) {
  tune_first(4);
  script_->add("sample", text(100, 4), "fast");
  EXPECT_EQ(to_text(tune(*make_tuner(*store_), again())->winner->candidate), text(100, 4));
  script_->clear();
  script_->add("sample", text(100, 2), "fast");
  EXPECT_EQ(to_text(tune(*make_tuner(*store_), again())->winner->candidate), text(100, 2));
  EXPECT_EQ(to_text((*store_->find_winner(key_of(100)))->candidate), text(100, 2));
}

TEST_F(SeededTuning, a_winner_that_would_not_be_tried_any_more_is_raced_all_the_same) {
  tune_first(5);
  script_->add("sample", text(100, 5), "fast");
  TuneRequest few = again();
  few.candidates_max = 2;  // as if the catalog held back the others
  const auto tuning = tune(*make_tuner(*store_), few);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->trials.size(), 3u);
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 5));
}

TEST_F(SeededTuning, a_winner_whose_templates_text_changed_is_tuned_anew_from_its_place) {
  tune_first(4);
  Winner other_text = **store_->find_winner(key_of(100));
  other_text.template_digest = std::string(64, '0');
  ASSERT_TRUE(store_->put_winner(other_text, {}));
  script_->add("reload", "", "refuse", 1);
  const auto tuning = tune(*make_tuner(*store_), request_of(100));  // a miss needs no `again`
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_FALSE(tuning->from_store);
  const auto refused =
      std::find_if(tuning->trials.begin(), tuning->trials.end(),
                   [](const Trial& trial) { return trial.verdict.kind == VerdictKind::refused; });
  ASSERT_NE(refused, tuning->trials.end());
  EXPECT_EQ(to_text(refused->candidate), text(100, 4));
}

TEST_F(SeededTuning, a_tuning_that_fails_leaves_the_old_winner) {
  tune_first(4);
  const Winner before = **store_->find_winner(key_of(100));
  script_->add("prepare", "", "die");
  EXPECT_FALSE(tune(*make_tuner(*store_), again()));
  EXPECT_EQ(**store_->find_winner(key_of(100)), before);
}

}  // namespace
}  // namespace normd
