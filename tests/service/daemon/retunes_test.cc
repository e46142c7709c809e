#include "service/daemon/retunes.h"

#include "kernels/catalog_digest.h"
#include "resolving.h"

namespace normd {
namespace {

// The winners of made-up tunings were found with nothing that is known here; that of a first tuning
// is stored by the tests.
class Retuning : public Resolving {
 protected:
  Retuning() { compiler_ = "a compiler"; }

  Winner store_first(const std::function<void(Winner&)>& change = {}) {
    return store_winner(*store_, shape, [&](Winner& winner, Binary&) {
      winner.driver = serving_->identity().driver;
      winner.compiler = compiler_;
      winner.catalog_digest = catalog_digest(winner.key, serving_->spec());
      winner.tuned_by = "the first tuning";
      if (change) change(winner);
    });
  }
  std::string tuned_by() { return (*store_->peek_winner(key_of(shape)))->tuned_by; }
  // As another process's change of the key would.
  void forget_in_memory() { resolver_->drop(key_of(shape)); }
  // Whatever the lookup thread was given has been done.
  void finish_lookups() { resolver_->warm({.rows = 1, .columns = 64}, BucketMode::bucketed); }
};

struct Change {
  const char* name;
  void (*change)(Winner&);
};

class RetuningAfter : public Retuning, public testing::WithParamInterface<Change> {};

TEST_P(RetuningAfter, it_is_one_tuning_behind_the_old_winner) {
  store_first(GetParam().change);
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  EXPECT_TRUE(last_again_);
  EXPECT_EQ(origin_of(Policy::wait), Origin::memory) << "nobody waits";
  EXPECT_EQ(tuned_by(), "the first tuning");
  EXPECT_EQ(counters_.retunes, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Changes, RetuningAfter,
    testing::Values(
        Change{"driver", [](Winner& winner) { winner.driver = "an older one"; }},
        Change{"compiler", [](Winner& winner) { winner.compiler = "an older one"; }},
        Change{"catalog", [](Winner& winner) { winner.catalog_digest = "an older one"; }},
        Change{"catalog_unknown", [](Winner& winner) { winner.catalog_digest.clear(); }}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(Retuning, the_new_winner_serves_and_the_key_is_not_tuned_again) {
  store_first([](Winner& winner) { winner.driver = "an older one"; });
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  go_.set_value();
  // It was found with nothing that is known: another daemon would tune it again, this one has.
  ASSERT_TRUE(soon([&] { return tuned_by().empty(); }));
  for (int i = 0; i < 3; ++i) {
    forget_in_memory();
    EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  }
  finish_lookups();
  EXPECT_TRUE(soon([&] { return resolver_->depth().queued + resolver_->depth().running == 0; }));
  EXPECT_EQ(tunings_, 1);
  EXPECT_EQ(counters_.retunes, 1);
}

TEST_F(Retuning, one_that_fails_leaves_the_old_winner_and_is_not_tried_again) {
  fails_ = true;
  store_first([](Winner& winner) { winner.compiler = "an older one"; });
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  go_.set_value();
  ASSERT_TRUE(soon([&] { return tunings_ == 1 && resolver_->depth().running == 0; }));
  EXPECT_EQ(origin_of(Policy::fail), Origin::memory);
  forget_in_memory();
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  finish_lookups();
  EXPECT_EQ(tuned_by(), "the first tuning");
  EXPECT_EQ(counters_.retunes, 1);
}

TEST_F(Retuning, what_was_found_with_the_same_is_left_alone) {
  store_first();
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  finish_lookups();
  EXPECT_EQ(counters_.retunes, 0);
}

TEST_F(Retuning, a_pinned_winner_is_left_alone) {
  store_first([](Winner& winner) {
    winner.driver = "an older one";
    winner.pinned = true;
  });
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  finish_lookups();
  EXPECT_EQ(counters_.retunes, 0);
}

TEST_F(Retuning, a_drift_is_one_tuning_however_often_it_is_found_and_apart_from_a_change) {
  const Winner winner = store_first([](Winner& first) { first.driver = "an older one"; });
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  ASSERT_TRUE(soon([&] { return counters_.retunes == 1; }));
  EXPECT_FALSE(resolver_->has_drifted(winner.key));
  for (int i = 0; i < 3; ++i) resolver_->drifted(winner, "slower");
  finish_lookups();
  EXPECT_TRUE(resolver_->has_drifted(winner.key));
  EXPECT_EQ(counters_.retunes, 2);
}

TEST_F(Retuning, a_warmed_shape_is_looked_at_too) {
  store_first([](Winner& winner) { winner.driver = "an older one"; });
  EXPECT_TRUE(resolver_->warm(shape, BucketMode::bucketed).loaded);
  EXPECT_TRUE(soon([&] { return tunings_ == 1; }));
}

class WithoutCompiler : public Retuning {
 protected:
  WithoutCompiler() { compiler_.clear(); }
};

TEST_F(WithoutCompiler, nothing_is_tuned_again) {
  store_first([](Winner& winner) { winner.driver = "an older one"; });
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  finish_lookups();
  EXPECT_EQ(counters_.retunes, 0);
}

}  // namespace
}  // namespace normd
