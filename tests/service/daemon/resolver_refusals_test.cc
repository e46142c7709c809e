// What the resolver does about a winner that is sound in the store and fails on this device, and
// about one that is forgotten while it is being loaded.
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "resolving.h"

namespace normd {
namespace {

// Candidates in the cost model's order, of which no two have the same binary on the host device:
// registers are nothing to it.
std::vector<Candidate> distinct_candidates(const DeviceSpec& spec) {
  std::vector<Candidate> distinct;
  std::set<std::string> seen;
  for (const Candidate& candidate : ranked_candidates(shape, spec)) {
    Candidate plain = candidate;
    std::erase_if(plain.values,
                  [](const auto& value) { return value.first == "threads_per_sm"; });
    if (seen.insert(to_text(plain)).second) distinct.push_back(candidate);
  }
  return distinct;
}

class Refusing : public Resolving {
 protected:
  // A measured trial of the candidate at this place in their order, with its binary.
  Candidate store_trial(std::size_t rank, double median_ns) {
    const DeviceSpec& spec = serving_->spec();
    const Candidate candidate = distinct_candidates(spec)[rank];
    const auto binary = compile(render(candidate, shape, spec));
    EXPECT_TRUE(binary) << binary.error().message;
    EXPECT_TRUE(store_->put_binary(*binary));
    Trial trial{.candidate = candidate,
                .verdict = {.kind = VerdictKind::measured,
                            .measurements = {{.rows = 3, .median_ns = median_ns}}},
                .binary_digest = binary->digest,
                .compiler = binary->compiler};
    EXPECT_TRUE(store_->put_trial(key_of(shape), trial));
    return candidate;
  }

  // Nothing is loaded or launched until the promise is kept.
  void hold_serving_thread(std::future<void> until) {
    std::promise<void> begun;
    ASSERT_TRUE(serving_->submit({.kernel = serving_->fallback(),
                                  .problem = {.rows = 1, .columns = 4},
                                  .x_row_stride = 4,
                                  .epsilon = 1e-5f,
                                  .tensors = {.x = {std::as_bytes(std::span(x_))},
                                              .y = std::as_writable_bytes(std::span(y_))},
                                  .done = [&](const auto&) {
                                    begun.set_value();
                                    until.wait();
                                  }}));
    begun.get_future().wait();
  }

 private:
  std::vector<float> x_ = std::vector<float>(4), y_ = std::vector<float>(4);
};

TEST_F(Refusing, the_best_other_trial_stands_in_for_a_winner_that_fails_here) {
  store_damaged_winner(shape);
  store_trial(2, 300);
  const Candidate best = store_trial(1, 200);
  const auto resolved = ask(Policy::wait).get();
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->origin, Origin::store);
  EXPECT_EQ(resolved->kernel->candidate, to_text(best));
  EXPECT_EQ(origin_of(Policy::wait), Origin::memory);
  EXPECT_EQ(origin_of(Policy::fallback), Origin::memory);
  resolver_->review();
  EXPECT_TRUE(resolver_->warm(shape, BucketMode::bucketed).loaded);  // behind the review
  EXPECT_EQ(origin_of(Policy::fail), Origin::memory);
  EXPECT_EQ(tunings_, 0);
  EXPECT_EQ(counters_.winners_quarantined, 1);
}

TEST_F(Refusing, what_fails_in_a_launch_is_replaced_too) {
  const Winner winner = store_winner(*store_, shape);
  const Candidate other = store_trial(1, 200);
  EXPECT_EQ(origin_of(Policy::fail), Origin::store);
  resolver_->quarantine(winner.key, winner.binary_digest, {.message = "a launch failed"});
  const auto resolved = ask(Policy::fail).get();
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->kernel->candidate, to_text(other));
}

TEST_F(Refusing, a_winner_for_which_there_is_no_room_just_now_is_not_held_against_it) {
  store_winner(*store_, shape);
  rlimit descriptors{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = descriptors.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);  // loading takes one
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
  EXPECT_EQ(counters_.winners_quarantined, 0);
  EXPECT_TRUE(soon([&] { return origin_of(Policy::fallback) == Origin::memory; }));
  EXPECT_FALSE(last_again_);
}

TEST_F(Refusing, a_trial_of_another_text_does_not_stand_in) {
  store_damaged_winner(shape);
  const Candidate stale = ranked_candidates(shape, serving_->spec())[1];
  Binary binary = *compile(render(stale, shape, serving_->spec()));
  binary.source_digest = std::string(64, '0');
  ASSERT_TRUE(store_->put_binary(binary));
  ASSERT_TRUE(store_->put_trial(
      key_of(shape),
      {.candidate = stale,
       .verdict = {.kind = VerdictKind::measured, .measurements = {{.rows = 3, .median_ns = 100}}},
       .binary_digest = binary.digest,
       .compiler = binary.compiler}));
  EXPECT_FALSE(ask(Policy::fail).get());
}

TEST_F(Refusing, a_tuning_that_finds_what_failed_here_is_not_run_again_for_whoever_waits) {
  finds_damaged_ = true;
  go_.set_value();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(origin_of(Policy::wait), Origin::fallback);
  EXPECT_EQ(tunings_, 1);
  EXPECT_EQ(counters_.winners_quarantined, 1);
}

TEST_F(Refusing, a_default_that_falls_in_the_race_answers_no_longer) {
  has_default_ = default_falls_ = true;
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
  ASSERT_TRUE(soon([&] { return tunings_ == 1; }));
  EXPECT_FALSE(
      resolver_->warm({.rows = 1, .columns = 64}, BucketMode::bucketed).loaded);  // lookups done
  EXPECT_EQ(origin_of(Policy::fallback), Origin::fallback);
}

TEST_F(Refusing, a_key_that_is_forgotten_while_its_winner_is_loaded_is_not_kept) {
  store_winner(*store_, shape);
  std::promise<void> go;
  hold_serving_thread(go.get_future());
  auto asked = ask(Policy::fail);
  ASSERT_TRUE(soon([&] { return serving_->queued() == 1; })) << "the store is read, the load waits";
  ASSERT_TRUE(store_->forget(key_of(shape)));
  resolver_->drop(key_of(shape));
  go.set_value();
  EXPECT_TRUE(asked.get());  // it was asked for before
  EXPECT_EQ(resolver_->kernels_loaded(), 0u);
  EXPECT_FALSE(ask(Policy::fail).get());
}

}  // namespace
}  // namespace normd
