// Candidates that fail each in another way: every one leaves its own reason, and the next is tried.
#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

class TunerFaults : public ScriptedTuning {
 protected:
  std::optional<Trial> stored(std::size_t rank) const {
    return *store_->find_trial(key_of(100), ranked(100)[rank], "scripted 1");
  }
  // One more than those that fail.
  Result<Tuning> tune_all_but(int failing) const {
    TuneRequest request = request_of(100, 20'000);
    request.candidates_max = failing + 1;
    return tune(*make_tuner(*store_), request);
  }
};

TEST_F(TunerFaults, each_leaves_its_named_reason_and_the_next_candidate_is_tried) {
  struct Fault {
    std::string_view verb, action;
    Reason reason;
  };
  const Fault faults[] = {{"compile", "reject", Reason::compile_error},
                          {"compile", "die", Reason::compiler_fault},
                          {"compile", "spill", Reason::spills},
                          {"trial", "over limit", Reason::load_error},
                          {"trial", "refuse", Reason::wrong_result},
                          {"trial", "die", Reason::fault},
                          {"trial", "hang", Reason::timeout}};
  const std::size_t failing = std::size(faults);
  for (std::size_t rank = 0; rank < failing; ++rank) {
    const auto& [verb, action, reason] = faults[rank];
    script_->add(verb, verb == "compile" ? source_digest(100, rank) : text(100, rank), action);
  }
  const auto tuning = tune_all_but(static_cast<int>(failing));
  ASSERT_TRUE(tuning) << tuning.error().message;
  ASSERT_TRUE(tuning->winner);
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, failing));
  for (std::size_t rank = 0; rank < failing; ++rank) {
    const auto trial = stored(rank);
    ASSERT_TRUE(trial) << faults[rank].action;
    EXPECT_EQ(trial->verdict.kind, VerdictKind::refused);
    EXPECT_EQ(reason_name(trial->verdict.reason), reason_name(faults[rank].reason));
  }
}

// What says nothing of a candidate is not stored, and the next tuning tries it again.
TEST_F(TunerFaults, what_was_not_tried_leaves_no_row_and_the_next_candidate_is_tried) {
  script_->add("trial", text(100, 0), "no memory");
  script_->add("compile", source_digest(100, 1), "no tool");
  const auto tuning = tune_all_but(2);
  ASSERT_TRUE(tuning) << tuning.error().message;
  ASSERT_TRUE(tuning->winner);
  EXPECT_EQ(to_text(tuning->winner->candidate), text(100, 2));
  EXPECT_FALSE(stored(0));
  EXPECT_FALSE(stored(1));
  EXPECT_TRUE(stored(2));

  script_->clear();
  TuneRequest again = request_of(100, 20'000);
  again.candidates_max = 3;
  again.again = true;
  ASSERT_TRUE(tune(*make_tuner(*store_), again));
  EXPECT_EQ(stored(0)->verdict.kind, VerdictKind::measured);
  EXPECT_EQ(stored(1)->verdict.kind, VerdictKind::measured);
}

}  // namespace
}  // namespace normd
