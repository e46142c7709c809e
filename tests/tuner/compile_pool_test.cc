#include "tuner/compile_pool.h"

#include <thread>

#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class CompilePoolTest : public ScriptedTuning {
 protected:
  CompilePool::Compiled next(CompilePool::Batch& batch) {
    auto compiled = batch.next(std::chrono::steady_clock::now() + 10s);
    EXPECT_TRUE(compiled);
    return compiled ? std::move(*compiled) : CompilePool::Compiled{.number = -1};
  }
  Source source(std::int64_t columns) const {
    return render(ranked(columns).front(), request_of(columns).problem, spec_);
  }
};

TEST_F(CompilePoolTest, what_is_submitted_comes_back_under_its_number) {
  CompilePool pool({.words = worker()}, 2);
  auto batch = pool.begin();
  for (int number = 0; number < 6; ++number) batch.submit(number, source(100 + number));
  for (int left = 6; left > 0; --left) {
    EXPECT_EQ(batch.outstanding(), left);
    const auto compiled = next(batch);
    ASSERT_TRUE(compiled.binary) << compiled.binary.error().message;
    EXPECT_EQ(compiled.binary->source_digest, source(100 + compiled.number).digest);
  }
  EXPECT_FALSE(batch.next(std::chrono::steady_clock::now() + 1s)) << "nothing is left to wait for";
}

TEST_F(CompilePoolTest, nothing_of_one_batch_reaches_the_next) {
  script_->add("compile", "", "slow 100");
  CompilePool pool({.words = worker()}, 2);
  {
    // Some are done and not taken, some at work, some not begun.
    auto left = pool.begin();
    for (int number = 0; number < 20; ++number) left.submit(number, source(100 + number));
    next(left);
    std::this_thread::sleep_for(150ms);
    EXPECT_GT(left.outstanding(), 10);
  }
  auto batch = pool.begin();
  EXPECT_EQ(batch.outstanding(), 0);
  for (int number = 0; number < 3; ++number) batch.submit(number, source(200 + number));
  for (int i = 0; i < 3; ++i) {
    const auto compiled = next(batch);
    ASSERT_TRUE(compiled.binary);
    EXPECT_EQ(compiled.binary->source_digest, source(200 + compiled.number).digest);
  }
  EXPECT_EQ(batch.outstanding(), 0);
}

TEST_F(CompilePoolTest, an_endless_compilation_of_an_earlier_batch_gives_its_worker_back) {
  script_->add("compile", source(100).digest, "hang");
  CompilePool pool({.words = worker()}, 1);
  {
    auto left = pool.begin();
    left.submit(1, source(99));
    ASSERT_TRUE(next(left).binary);
    left.submit(0, source(100));
    std::this_thread::sleep_for(100ms);
  }
  auto batch = pool.begin();
  batch.submit(0, source(101));
  const auto until = std::chrono::steady_clock::now() + 10s;
  std::optional<CompilePool::Compiled> compiled;
  while (!compiled && std::chrono::steady_clock::now() < until) {
    compiled = batch.next(std::chrono::steady_clock::now() + 100ms);
  }
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->binary);
  EXPECT_EQ(script_->followed(0), 1u) << "what nobody waits for is not compiled again";
}

TEST_F(CompilePoolTest, its_end_waits_for_no_compilation_begun_or_not) {
  script_->add("compile", "", "hang");
  const auto begun = std::chrono::steady_clock::now();
  {
    CompilePool pool({.words = worker()}, 2);
    auto batch = pool.begin();
    for (int number = 0; number < 10; ++number) batch.submit(number, source(100 + number));
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
}

TEST_F(CompilePoolTest, a_compiler_that_dies_costs_its_own_source_only) {
  script_->add("compile", source(101).digest, "die");
  CompilePool pool({.words = worker()}, 1);
  auto batch = pool.begin();
  for (int number = 0; number < 3; ++number) batch.submit(number, source(100 + number));
  for (int number = 0; number < 3; ++number) {
    const auto compiled = next(batch);
    EXPECT_EQ(compiled.number, number);
    EXPECT_EQ(compiled.binary.has_value(), number != 1);
  }
  EXPECT_EQ(script_->followed(0), 2u) << "a fresh compiler has died of it too";
}

TEST_F(CompilePoolTest, a_worker_that_was_killed_in_its_idle_time_costs_no_source) {
  script_->add("compile", source(100).digest, "die idle");
  CompilePool pool({.words = worker()}, 1);
  for (const std::int64_t columns : {100, 101}) {
    auto batch = pool.begin();
    batch.submit(0, source(columns));
    const auto compiled = next(batch);
    ASSERT_TRUE(compiled.binary) << compiled.binary.error().message;
  }
  EXPECT_EQ(script_->followed(0), 1u);
  EXPECT_EQ(pool.workers_restarted(), 1);
}

TEST_F(CompilePoolTest, a_worker_that_died_in_its_idle_time_is_asked_for_its_compiler_again) {
  CompilePool pool({.words = worker()}, 1);
  ASSERT_TRUE(pool.compiler("sm_90"));
  script_->add("compiler", "", "die", 1);
  const auto compiler = pool.compiler("sm_90");
  ASSERT_TRUE(compiler) << compiler.error().message;
  EXPECT_EQ(*compiler, "scripted 1");
}

}  // namespace
}  // namespace normd
