#include "service/daemon/resolver.h"

#include "resolving.h"

namespace normd {
namespace {

TEST_F(Resolving, an_untuned_shape_gets_the_fallback_at_once_and_one_tuning_behind) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  go_.set_value();
  EXPECT_TRUE(soon([&] { return resolver_->kernels_loaded() == 1; }));
  EXPECT_EQ(origin_of(Policy::fallback), Origin::memory);
  EXPECT_EQ(tunings_, 1);
}

TEST_F(Resolving, the_default_answers_once_it_is_checked_and_until_there_is_a_winner) {
  has_default_ = true;
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_TRUE(soon([&] { return origin_of(Policy::fallback) == Origin::standard; }));
  const auto by_default = ask(Policy::fallback).get();
  EXPECT_EQ(by_default->kernel->candidate,
            to_text(ranked_candidates(shape, serving_->spec()).front()));
  EXPECT_EQ(by_default->key, to_text(key_of(shape)));
  EXPECT_FALSE(ask(Policy::fail).get()) << "checked is not tuned";
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the miss is asked for again
  EXPECT_EQ(origin_of(Policy::fallback), Origin::standard);
  go_.set_value();
  EXPECT_TRUE(soon([&] { return resolver_->kernels_loaded() == 1; }));
  EXPECT_EQ(origin_of(Policy::fallback), Origin::memory);
}

TEST_F(Resolving, a_default_that_does_not_load_leaves_the_fallback) {
  has_default_ = default_is_damaged_ = true;
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_TRUE(soon([&] { return counters_.winners_quarantined == 1; }));
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
}

TEST_F(Resolving, the_default_of_one_template_alone_is_not_served) {
  has_default_ = true;
  Cancellation cancellation;
  std::promise<void> finished;
  ASSERT_TRUE(resolver_->tune(
      {.problem = shape, .template_name = "sub_warp"}, "test",
      {.progress = {}, .finished = [&](const auto&) { finished.set_value(); }}, cancellation));
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  EXPECT_FALSE(
      resolver_->warm({.rows = 1, .columns = 64}, BucketMode::bucketed).loaded);  // lookups done
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  go_.set_value();
  finished.get_future().wait();
}

TEST_F(Resolving, callers_that_wait_share_one_tuning) {
  auto first = ask(Policy::wait);
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  std::vector<std::future<Result<Resolved>>> others;
  for (int i = 0; i < 8; ++i) others.push_back(ask(Policy::wait));
  ASSERT_TRUE(soon([&] { return admission_.waiting_calls() == 9; }));
  go_.set_value();
  EXPECT_EQ(first.get()->origin, Origin::tuned);
  for (auto& other : others) EXPECT_EQ(other.get()->origin, Origin::joined);
  EXPECT_EQ(tunings_, 1);
  EXPECT_TRUE(soon([&] { return admission_.waiting_calls() == 0; }));
}

TEST_F(Resolving, with_policy_fail_nothing_is_tuned) {
  const auto resolved = ask(Policy::fail).get();
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, ErrorCode::failed_precondition);
  EXPECT_EQ(ask(Policy::fail).get().error().code, ErrorCode::failed_precondition);  // known by now
  EXPECT_EQ(tunings_, 0);
}

TEST_F(Resolving, a_stored_winner_is_loaded_once_and_then_in_memory) {
  const Winner winner = store_winner(*store_, shape);
  const auto resolved = ask(Policy::fail).get();
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->origin, Origin::store);
  EXPECT_EQ(resolved->kernel->candidate, to_text(winner.candidate));
  EXPECT_EQ(resolved->key, to_text(winner.key));
  EXPECT_EQ(origin_of(Policy::fail), Origin::memory);
}

TEST_F(Resolving, a_winner_of_a_changed_template_is_a_miss_and_tuned_again) {
  store_winner(*store_, shape,
               [](Winner& winner, Binary&) { winner.template_digest = std::string(64, '0'); });
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  EXPECT_TRUE(last_again_);
  EXPECT_EQ(counters_.winners_quarantined, 0);
}

TEST_F(Resolving, a_winner_that_does_not_load_is_quarantined_and_the_fallback_answers) {
  store_damaged_winner(shape);
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  EXPECT_EQ(counters_.winners_quarantined, 1);
}

TEST_F(Resolving, a_caller_that_leaves_gets_nothing_and_the_tuning_goes_on) {
  const auto cancellation = std::make_shared<Cancellation>();
  auto left = ask(Policy::wait, cancellation);
  ASSERT_TRUE(soon([&] { return admission_.waiting_calls() == 1; }));
  cancellation->cancel();
  EXPECT_TRUE(soon([&] { return admission_.waiting_calls() == 0; }));
  auto stays = ask(Policy::wait);
  ASSERT_TRUE(soon([&] { return admission_.waiting_calls() == 1; }));
  go_.set_value();
  EXPECT_TRUE(stays.get());
  EXPECT_EQ(tunings_, 1);
  EXPECT_THROW(left.get(), std::future_error);  // its promise went without an answer
}

TEST_F(Resolving, stopping_answers_everybody_who_waits) {
  auto waits = ask(Policy::wait);
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  resolver_->stop_tuning();
  EXPECT_EQ(waits.get().error().code, ErrorCode::unavailable);
  EXPECT_EQ(ask(Policy::wait).get().error().code, ErrorCode::unavailable);
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
}

TEST_F(Resolving, a_tuning_that_failed_is_not_started_again_by_the_next_request) {
  fails_ = true;
  go_.set_value();
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_TRUE(soon([&] { return tunings_ == 1 && resolver_->depth().running == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the miss is asked for again
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(tunings_, 1);
  // Whoever waits is told the reason, each time.
  EXPECT_EQ(ask(Policy::wait).get().error().message, "no compiler");
}

TEST_F(Resolving, beyond_the_cap_of_waiting_calls_it_refuses_by_name) {
  std::vector<std::future<Result<Resolved>>> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(ask(Policy::wait));
  const auto refused = ask(Policy::wait).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().field, "waiting_calls_max");
  go_.set_value();
  for (auto& call : waiting) EXPECT_TRUE(call.get());
}

TEST_F(Resolving, what_another_process_forgot_is_dropped_from_memory) {
  store_winner(*store_, shape);
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  store_->changed_by_others();
  const auto other = *Store::open(directory_, Store::Mode::read_write);
  ASSERT_TRUE(other->forget(key_of(shape)));
  ASSERT_TRUE(store_->changed_by_others());
  resolver_->review();
  EXPECT_TRUE(soon([&] { return resolver_->kernels_loaded() == 0; }));
  EXPECT_FALSE(ask(Policy::fail).get());
}

TEST_F(Resolving, a_review_keeps_what_did_not_change) {
  store_winner(*store_, shape);
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  resolver_->review();
  EXPECT_TRUE(resolver_->warm(shape, BucketMode::bucketed).loaded);  // behind the review
  EXPECT_EQ(origin_of(Policy::fail), Origin::memory);
}

TEST_F(Resolving, warming_loads_winners_and_tunes_nothing) {
  EXPECT_FALSE(resolver_->warm(shape, BucketMode::bucketed).loaded);
  store_winner(*store_, {.rows = 1, .columns = 64});
  EXPECT_TRUE(resolver_->warm({.rows = 1, .columns = 64}, BucketMode::bucketed).loaded);
  EXPECT_EQ(tunings_, 0);
  EXPECT_EQ(resolver_->depth().queued + resolver_->depth().running, 0);
}

}  // namespace
}  // namespace normd
