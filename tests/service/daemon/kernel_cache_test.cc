#include "service/daemon/kernel_cache.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

Key key_of(std::int64_t columns, Problem problem = {}) {
  problem.rows = 4;
  problem.columns = columns;
  const DeviceSpec spec = host_device_spec();
  return make_key(problem, spec, make_fingerprint(spec), BucketMode::bucketed);
}

ServedKernelPointer kernel(const std::string& candidate) {
  auto served = std::make_shared<ServedKernel>();
  served->candidate = candidate;
  return served;
}

std::string found(KernelCache& cache, const Key& key) {
  const Known known = cache.find(key, Clock::now());
  const auto* kernel = std::get_if<ServedKernelPointer>(&known);
  return kernel == nullptr ? "" : (*kernel)->candidate;
}

TEST(KernelCache, the_least_recently_used_goes_first) {
  KernelCache cache(2);
  cache.put(key_of(1), kernel("one"));
  cache.put(key_of(2), kernel("two"));
  EXPECT_EQ(found(cache, key_of(1)), "one");
  cache.put(key_of(3), kernel("three"));
  EXPECT_EQ(found(cache, key_of(1)), "one");
  EXPECT_EQ(found(cache, key_of(2)), "");
  EXPECT_EQ(found(cache, key_of(3)), "three");
  EXPECT_EQ(cache.kernels(), 2u);
}

TEST(KernelCache, a_second_winner_replaces_the_first) {
  KernelCache cache(2);
  cache.put(key_of(1), kernel("old"));
  cache.put(key_of(1), kernel("new"));
  EXPECT_EQ(found(cache, key_of(1)), "new");
  EXPECT_EQ(cache.kernels(), 1u);
}

TEST(KernelCache, what_was_found_before_a_drop_is_not_kept) {
  KernelCache cache(2);
  const auto drops = cache.drops();
  cache.drop(key_of(1));  // nothing is there yet
  cache.put_unless_dropped(key_of(1), kernel("forgotten"), drops);
  EXPECT_EQ(found(cache, key_of(1)), "");
  cache.put_unless_dropped(key_of(1), kernel("new"), cache.drops());
  EXPECT_EQ(found(cache, key_of(1)), "new");
}

TEST(KernelCache, a_miss_is_believed_for_its_time_only) {
  KernelCache cache(2);
  const auto now = Clock::now();
  cache.put_miss(key_of(1), {"text", now + std::chrono::seconds(1), nullptr});
  EXPECT_TRUE(std::holds_alternative<KnownMiss>(cache.find(key_of(1), now)));
  EXPECT_TRUE(
      std::holds_alternative<NotKnown>(cache.find(key_of(1), now + std::chrono::seconds(2))));
}

TEST(KernelCache, keys_that_differ_in_any_field_are_different) {
  KernelCache cache(100);
  const Problem others[] = {{.x = DType::fp16},     {.y = DType::bf16},
                            {.gamma = DType::fp32}, {.beta = DType::fp32},
                            {.stats = Stats::mean}, {.rows_layout = RowsLayout::strided},
                            {.align_bytes = 4}};
  cache.put(key_of(64), kernel("plain"));
  for (const Problem& other : others) EXPECT_EQ(found(cache, key_of(64, other)), "");
  EXPECT_EQ(found(cache, key_of(64)), "plain");
}

TEST(KernelCache, expiring_misses_keeps_kernels) {
  KernelCache cache(10);
  cache.put(key_of(1), kernel("one"));
  cache.put_miss(key_of(2), {"text", Clock::now() + std::chrono::hours(1), nullptr});
  cache.expire_misses();
  EXPECT_EQ(found(cache, key_of(1)), "one");
  EXPECT_TRUE(std::holds_alternative<NotKnown>(cache.find(key_of(2), Clock::now())));
  cache.drop(key_of(1));
  EXPECT_EQ(cache.kernels(), 0u);
}

TEST(KernelCache, a_default_answers_a_miss_until_there_is_a_winner) {
  KernelCache cache(10);
  const auto now = Clock::now();
  const auto soon = now + std::chrono::seconds(1);
  const auto default_of = [&] {
    const Known known = cache.find(key_of(1), now);
    const auto* const miss = std::get_if<KnownMiss>(&known);
    return miss != nullptr && miss->by_default ? miss->by_default->candidate : "";
  };
  cache.put_default(key_of(1), kernel("default"));
  EXPECT_EQ(default_of(), "") << "the store is asked first";
  EXPECT_EQ(cache.put_miss(key_of(1), {"text", soon, nullptr}).by_default->candidate, "default");
  EXPECT_EQ(default_of(), "default");
  cache.expire_misses();
  cache.put_miss(key_of(1), {"text", soon, nullptr});
  EXPECT_EQ(default_of(), "default");
  EXPECT_EQ(cache.kernels(), 0u);

  cache.put(key_of(1), kernel("winner"));
  cache.put_default(key_of(1), kernel("late"));
  EXPECT_EQ(found(cache, key_of(1)), "winner");
  cache.drop(key_of(1));
  cache.put_miss(key_of(1), {"text", soon, nullptr});
  EXPECT_EQ(default_of(), "");
}

}  // namespace
}  // namespace normd
