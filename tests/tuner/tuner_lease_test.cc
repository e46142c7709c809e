// What a tuning makes of a lease that it lost while it raced: the other process's winner stands.
#include "tests/tuner/scripted_tuning.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

class TunerLease : public ScriptedTuning {
 protected:
  // One candidate is tuned; when its race begins, its lease runs out and another process takes it.
  Result<std::optional<Tuning>> tune_robbed() {
    TuneRequest request = request_of(100, 10'000);
    request.candidates_max = 1;
    return make_tuner(*store_)->tune_unless_elsewhere(
        request,
        [&](const TuneProgress& progress) {
          if (progress.stage != TuneStage::racing) return;
          run_sql(directory_ + "/store/normd.db", "UPDATE lease SET expires_boot_ms = 0");
          other_lease_ = *other_store_->try_lease(key_of(100), 60'000);
          EXPECT_TRUE(other_lease_);
        },
        {});
  }

  const std::unique_ptr<Store> other_store_ =
      *Store::open(directory_ + "/store", Store::Mode::read_write);
  std::optional<Lease> other_lease_;
};

TEST_F(TunerLease, who_loses_it_in_a_race_of_a_moment_stores_no_winner) {
  const auto tuning = tune_robbed();
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_TRUE(other_lease_);
  EXPECT_FALSE(*tuning) << "the key is left to the other process";
  EXPECT_FALSE(*store_->find_winner(key_of(100)));
}

// The loss is seen between two rounds, before there are enough of them to decide anything.
TEST_F(TunerLease, who_learns_of_its_loss_between_two_rounds_stores_no_winner) {
  script_->add("sample", "raced " + text(100, 0), "slow 450");
  const auto tuning = tune_robbed();
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_LT(script_->followed(0), 12u) << "the race ends with the loss";
  EXPECT_FALSE(*tuning);
  EXPECT_FALSE(*store_->find_winner(key_of(100)));
}

}  // namespace
}  // namespace normd
