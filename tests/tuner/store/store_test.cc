#include "tuner/store/store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

TEST(StoreTest, what_was_put_is_found_again_after_reopening) {
  const StoreDirectory directory;
  const std::vector<Trial> race = {measured_trial(1), refused_trial(2, "NVRTC 13.0")};
  {
    auto store = open_store(directory.path());
    ASSERT_TRUE(store->put_binary(sample_binary(7)));
    ASSERT_TRUE(store->put_trial(sample_key(7), measured_trial(3)));
    ASSERT_TRUE(store->put_winner(sample_winner(7), race));
    EXPECT_TRUE(store->status().persistent);
    EXPECT_EQ(store->status().degraded_reason, "");
  }
  auto store = open_store(directory.path());
  EXPECT_EQ(**store->find_winner(sample_key(7)), sample_winner(7));
  const auto trials = *store->find_trials(sample_key(7));
  EXPECT_EQ(trials, (std::vector<Trial>{race[0], measured_trial(3), race[1]}));
  EXPECT_EQ((*store->find_binary(sample_binary(7).digest))->bytes, sample_binary(7).bytes);
  const StoreStatus status = store->status();
  EXPECT_EQ(status.winners, 1);
  EXPECT_EQ(status.trials, 3);
  EXPECT_EQ(status.binaries, 1);
  EXPECT_EQ(status.rows_waiting, 0);
}

TEST(StoreTest, another_key_is_a_miss) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  auto store = open_store(directory.path());
  EXPECT_FALSE(store->find_winner(sample_key(1))->has_value());
  EXPECT_FALSE(store->find_binary(sample_binary(1).digest)->has_value());
  EXPECT_TRUE(store->find_trials(sample_key(1))->empty());
}

TEST(StoreTest, a_binary_is_found_by_its_source_and_compiler) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Binary twin = sample_binary(1);  // the same bytes from another source
  twin.source_digest = sample_binary(2).source_digest;
  ASSERT_TRUE(store->put_binary(sample_binary(1)));
  ASSERT_TRUE(store->put_binary(twin));
  const Binary asked = sample_binary(1);
  const auto found = *store->find_binary_of_source(asked.source_digest, asked.compiler);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bytes, asked.bytes);
  EXPECT_EQ(found->log, asked.log);
  EXPECT_EQ(found->registers, asked.registers);
  EXPECT_TRUE(store->find_binary_of_source(twin.source_digest, asked.compiler)->has_value());
  EXPECT_FALSE(store->find_binary_of_source(asked.source_digest, "NVRTC 12.9")->has_value());
}

TEST(StoreTest, a_refusal_holds_for_its_compiler_and_a_measurement_for_all) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  const Key key = sample_key(0);
  const Trial refused = refused_trial(1, "NVRTC 12.9");
  ASSERT_TRUE(store->put_trial(key, refused));
  EXPECT_EQ(**store->find_trial(key, refused.candidate, "NVRTC 12.9"), refused);
  EXPECT_FALSE(store->find_trial(key, refused.candidate, "NVRTC 13.0")->has_value());
  ASSERT_TRUE(store->put_trial(key, measured_trial(1)));
  EXPECT_EQ(**store->find_trial(key, refused.candidate, "NVRTC 13.3"), measured_trial(1));
  EXPECT_EQ(**store->find_trial(key, refused.candidate, "NVRTC 12.9"), refused);
}

TEST(StoreTest, a_later_trial_of_the_same_candidate_replaces_the_earlier) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Trial again = measured_trial(1);
  again.verdict.error_over_bound = 0.5;
  ASSERT_TRUE(store->put_trial(sample_key(0), measured_trial(1)));
  ASSERT_TRUE(store->put_trial(sample_key(0), again));
  EXPECT_EQ(*store->find_trials(sample_key(0)), std::vector<Trial>{again});
}

TEST(StoreDeathTest, a_trial_that_was_not_tried_is_never_stored) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Trial trial = measured_trial(1);
  trial.verdict.kind = VerdictKind::not_tried;
  trial.verdict.reason = Reason::device_busy;
  EXPECT_DEATH(static_cast<void>(store->put_trial(sample_key(0), trial)), "not_tried");
  ASSERT_TRUE(store->put_winner(sample_winner(0), {trial, measured_trial(2)}));
  EXPECT_EQ(*store->find_trials(sample_key(0)), std::vector<Trial>{measured_trial(2)});
}

TEST(StoreTest, an_infinite_or_unordered_error_does_not_keep_a_trial_out) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Trial trial = refused_trial(1, "NVRTC 13.0");
  trial.verdict.error_over_bound = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(store->put_trial(sample_key(0), trial));
  const auto found = *store->find_trial(sample_key(0), trial.candidate, trial.compiler);
  EXPECT_EQ(found->verdict.error_over_bound, std::numeric_limits<double>::infinity());
}

TEST(StoreTest, a_winner_that_would_not_read_back_is_refused_with_its_race) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Winner winner = sample_winner(0);
  winner.launch.block = 0;
  const auto done = store->put_winner(winner, {measured_trial(1)});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(store->find_trials(sample_key(0))->empty());
  EXPECT_TRUE(store->status().persistent);
}

TEST(StoreTest, a_pinned_winner_is_not_replaced) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Winner better = sample_winner(0);
  better.tuning_ms = 1;
  EXPECT_EQ(store->set_pinned(sample_key(0), true).error().code, ErrorCode::not_found);
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  ASSERT_TRUE(store->set_pinned(sample_key(0), true));
  ASSERT_TRUE(store->put_winner(better, {measured_trial(1)}));
  EXPECT_EQ((*store->find_winner(sample_key(0)))->tuning_ms, sample_winner(0).tuning_ms);
  EXPECT_EQ(store->find_trials(sample_key(0))->size(), 1u);
  ASSERT_TRUE(store->set_pinned(sample_key(0), false));
  ASSERT_TRUE(store->put_winner(better, {}));
  EXPECT_EQ((*store->find_winner(sample_key(0)))->tuning_ms, 1);
}

TEST(StoreTest, forgetting_a_key_takes_its_rows_and_the_binaries_nobody_else_needs) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  for (int number = 0; number < 3; ++number) {
    ASSERT_TRUE(store->put_binary(sample_binary(number)));
  }
  ASSERT_TRUE(store->put_winner(sample_winner(0), {measured_trial(0), measured_trial(1)}));
  ASSERT_TRUE(store->put_trial(sample_key(5), measured_trial(1)));
  EXPECT_EQ(*store->forget(sample_key(0)), 3);
  EXPECT_FALSE(store->find_winner(sample_key(0))->has_value());
  EXPECT_TRUE(store->find_trials(sample_key(0))->empty());
  EXPECT_FALSE(store->find_binary(sample_binary(0).digest)->has_value());
  EXPECT_TRUE(store->find_binary(sample_binary(1).digest)->has_value()) << "key 5 needs it";
  EXPECT_TRUE(store->find_binary(sample_binary(2).digest)->has_value()) << "still being tried";
  EXPECT_EQ(*store->forget(sample_key(0)), 0);
}

TEST(StoreTest, ten_thousand_winners_are_listed_in_pages_in_key_order) {
  const StoreDirectory directory;
  make_store(directory.path(), 1);
  // Rows that differ in the columns of the key only, put in at once.
  run_sql(directory.file("normd.db"),
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) "
          "INSERT INTO winner SELECT replace(key, 'columns=64', 'columns=' || (64 + i)), "
          "fingerprint, candidate, launch, template_digest, binary_digest, measurements, "
          "median_ns, default_candidate, default_measurements, default_median_ns, ties, "
          "device_name, device_uuid, driver, compiler, tuned_by, tuned_at_unix_s, tuning_ms, "
          "pinned, used_at_unix_s, catalog_digest FROM winner, n");
  auto store = open_store(directory.path());
  const auto start = std::chrono::steady_clock::now();
  WinnerQuery query{.limit = 1000};
  int pages = 0;
  int winners = 0;
  while (true) {
    const auto page = *store->list_winners(query);
    if (page.empty()) break;
    ++pages;
    winners += static_cast<int>(page.size());
    ASSERT_LT(query.after, to_text(page.front().key));
    query.after = to_text(page.back().key);
  }
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(winners, 10'000);
  EXPECT_EQ(pages, 10);
  EXPECT_LT(took, std::chrono::seconds(5)) << "0.3 s without sanitizers";
  EXPECT_EQ(store->list_winners({.contains = "columns=10063 "})->size(), 1u);
  EXPECT_EQ(store->list_winners({.limit = 0})->size(), 0u);
}

TEST(StoreTest, rows_that_do_not_parse_are_misses_that_are_counted) {
  const StoreDirectory directory;
  make_store(directory.path(), 4);
  const std::string file = directory.file("normd.db");
  run_sql(file, "UPDATE winner SET candidate = 'a b=c' WHERE key LIKE '%columns=64 %'");
  run_sql(file, "UPDATE winner SET measurements = 'fast' WHERE key LIKE '%columns=65 %'");
  run_sql(file, "UPDATE trial SET reason = 99 WHERE key LIKE '%columns=66 %'");
  auto store = open_store(directory.path());
  EXPECT_FALSE(store->find_winner(sample_key(0))->has_value());
  EXPECT_FALSE(store->find_winner(sample_key(1))->has_value());
  EXPECT_TRUE(has_winner(*store, 2));
  EXPECT_TRUE(store->find_trials(sample_key(2))->empty());
  EXPECT_EQ(store->status().rows_unreadable, 3);
  EXPECT_EQ(store->list_winners({.limit = 2})->size(), 2u) << "a page is filled up past them";
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  EXPECT_TRUE(has_winner(*store, 0)) << "and are replaced";
}

TEST(StoreTest, a_flipped_byte_in_a_binary_is_a_miss_until_it_is_put_again) {
  const StoreDirectory directory;
  make_store(directory.path(), 2);
  std::string bytes = read_bytes(directory.file("normd.db"));
  const std::size_t at = bytes.find(sample_binary(1).bytes.substr(0, 40));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_bytes(directory.file("normd.db"), bytes);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
  auto store = open_store(directory.path());
  EXPECT_EQ(store->status().set_aside, "");
  EXPECT_TRUE(store->find_binary(sample_binary(0).digest)->has_value());
  EXPECT_FALSE(store->find_binary(sample_binary(1).digest)->has_value());
  EXPECT_EQ(store->status().rows_unreadable, 1);
  ASSERT_TRUE(store->put_binary(sample_binary(1)));
  EXPECT_TRUE(store->find_binary(sample_binary(1).digest)->has_value());
}

TEST(StoreTest, a_foreign_fingerprint_is_kept_and_listed_beside_ours) {
  const StoreDirectory directory;
  auto store = open_store(directory.path());
  Winner foreign = sample_winner(0);
  foreign.key.fingerprint.sm_count = 77;
  foreign.device_name = "Another device";
  ASSERT_TRUE(store->put_winner(sample_winner(0), {}));
  ASSERT_TRUE(store->put_winner(foreign, {}));
  EXPECT_TRUE(has_winner(*store, 0));
  EXPECT_EQ(store->list_winners({.contains = " sm=77 "})->front().device_name, "Another device");
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "SELECT count(*) FROM device"), "2");
}

TEST(StoreTest, the_use_of_a_winner_is_stamped_at_tidying) {
  const StoreDirectory directory;
  make_store(directory.path(), 2);
  run_sql(directory.file("normd.db"), "UPDATE winner SET used_at_unix_s = 5");
  auto store = open_store(directory.path());
  EXPECT_TRUE(has_winner(*store, 1));
  ASSERT_TRUE(store->tidy());
  EXPECT_EQ(ask_sql(directory.file("normd.db"),
                    "SELECT count(*) FROM winner WHERE "
                    "used_at_unix_s = 5"),
            "1");
}

TEST(StoreTest, no_log_is_left_behind_and_tidying_cuts_it) {
  const StoreDirectory directory;
  {
    auto store = open_store(directory.path());
    Binary binary = sample_binary(0);
    ASSERT_TRUE(store->put_binary(binary));
    EXPECT_GT(store->status().wal_bytes, 16'000);
    ASSERT_TRUE(store->tidy());
    EXPECT_EQ(store->status().wal_bytes, 0);
    binary.log = std::string(1'000'000, 'l');
    for (int number = 1; number < 20; ++number) {
      binary.source_digest = std::to_string(number);
      ASSERT_TRUE(store->put_binary(binary));
      EXPECT_LT(store->status().wal_bytes, 10 << 20) << "20 MB went through the log";
    }
    EXPECT_EQ(store->status().engine.substr(0, 9), "SQLite 3.");
  }
  EXPECT_EQ(directory.names("normd.db"), (std::vector<std::string>{"normd.db", "normd.db.turn"}));
}

}  // namespace
}  // namespace normd
