// A store that holds more than it may lets go of what it can do without, and of nothing else.
#include "tuner/store/eviction.h"

#include <gtest/gtest.h>

#include "tests/tuner/store/store_process.h"
#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

constexpr int winners = 40;
constexpr int losers = 60;  // binaries that serve no winner, numbers from 1000 on
constexpr std::int64_t binary_bytes = 16'000;

std::unique_ptr<Store> open_small(const StoreDirectory& directory, std::int64_t bytes_max) {
  auto store = Store::open(directory.path(), Store::Mode::read_write, bytes_max);
  EXPECT_TRUE(store.has_value());
  return std::move(*store);
}

// Winners of which number 0 was used longest ago, and losers between them; all used days ago.
void fill(const StoreDirectory& directory) {
  {
    auto store = open_store(directory.path());
    for (int number = 0; number < winners; ++number) {
      ASSERT_TRUE(store->put_binary(sample_binary(number)));
      ASSERT_TRUE(store->put_winner(sample_winner(number), {measured_trial(number)}));
    }
    for (int number = 1000; number < 1000 + losers; ++number) {
      ASSERT_TRUE(store->put_binary(sample_binary(number)));
      ASSERT_TRUE(store->put_trial(sample_key(0), measured_trial(number)));
    }
  }
  std::string older =
      "UPDATE winner SET used_at_unix_s = strftime('%s') - 864000;"
      "UPDATE binary SET put_at_unix_s = strftime('%s') - 864000;"
      "UPDATE trial SET put_at_unix_s = strftime('%s') - 864000;";
  for (int number = 0; number < winners; ++number) {
    older += "UPDATE winner SET used_at_unix_s = used_at_unix_s + " + std::to_string(number) +
             " WHERE key = '" + to_text(sample_key(number)) + "';";
  }
  run_sql(directory.file("normd.db"), "BEGIN;" + older + "COMMIT;");
}

std::int64_t used_by(const StoreDirectory& directory) {
  auto database = Database::open(directory.file("normd.db"), OpenAs::writer);
  return *used_bytes(*database);
}

bool has_binary(Store& store, int number) {
  return store.find_binary(sample_binary(number).digest)->has_value();
}

int losers_left(Store& store) {
  int left = 0;
  for (int number = 1000; number < 1000 + losers; ++number) left += has_binary(store, number);
  return left;
}

// By a connection of its own, without touching a stamp of use.
std::int64_t rows_in(const StoreDirectory& directory, const std::string& table,
                     const std::string& condition) {
  const std::string count = "SELECT count(*) FROM " + table + " WHERE " + condition;
  return std::stoll(ask_sql(directory.file("normd.db"), count));
}

bool winner_stays(const StoreDirectory& directory, int number) {
  return rows_in(directory, "winner", "key = '" + to_text(sample_key(number)) + "'") == 1 &&
         rows_in(directory, "binary", "digest = '" + sample_binary(number).digest + "'") == 1;
}

TEST(EvictionTest, a_store_within_its_size_loses_nothing) {
  const StoreDirectory directory;
  fill(directory);
  auto store = open_small(directory, 64 << 20);
  ASSERT_TRUE(store->tidy());
  EXPECT_EQ(store->status().rows_evicted, 0);
  EXPECT_EQ(losers_left(*store), losers);
}

TEST(EvictionTest, binaries_that_serve_no_winner_go_first) {
  const StoreDirectory directory;
  fill(directory);
  auto store = open_small(directory, used_by(directory) - losers * binary_bytes);
  ASSERT_TRUE(store->tidy());
  EXPECT_EQ(store->status().rows_evicted, losers);
  EXPECT_EQ(losers_left(*store), 0);
  for (int number = 0; number < winners; ++number) EXPECT_TRUE(winner_stays(directory, number));
}

TEST(EvictionTest, then_keys_go_by_their_last_use_but_for_those_in_use_or_pinned) {
  const StoreDirectory directory;
  fill(directory);
  auto store = open_small(directory, 400'000);
  ASSERT_TRUE(store->set_pinned(sample_key(0), true));
  EXPECT_TRUE(has_winner(*store, 1));                    // found: in use
  store->note_used({to_text(sample_key(2))});            // served from memory
  ASSERT_TRUE(store->put_winner(sample_winner(3), {}));  // tuned again just now
  ASSERT_TRUE(store->tidy());
  for (int number = 0; number < 4; ++number) EXPECT_TRUE(winner_stays(directory, number)) << number;
  EXPECT_FALSE(winner_stays(directory, 4));
  EXPECT_LE(used_by(directory), 400'000);
  EXPECT_EQ(ask_sql(directory.file("normd.db"), "PRAGMA integrity_check"), "ok");
}

TEST(EvictionTest, the_key_used_longest_ago_is_the_first_to_go) {
  const StoreDirectory directory;
  fill(directory);
  auto database = Database::open(directory.file("normd.db"), OpenAs::writer);
  ASSERT_TRUE(database);
  const auto now_unix_s = std::stoll(ask_sql(directory.file("normd.db"), "SELECT strftime('%s')"));
  EXPECT_EQ(*evict_batch(*database, now_unix_s), losers);
  run_sql(directory.file("normd.db"),
          "UPDATE winner SET used_at_unix_s = strftime('%s') WHERE used_at_unix_s > "
          "strftime('%s') - 864000 + 19");
  ASSERT_TRUE(evict_batch(*database, now_unix_s));
  EXPECT_FALSE(winner_stays(directory, 0));
  EXPECT_FALSE(winner_stays(directory, 18));
  EXPECT_TRUE(winner_stays(directory, 25));
  EXPECT_EQ(*evict_batch(*database, now_unix_s), 0) << "all that is left is in use";
}

TEST(EvictionTest, what_was_let_go_of_leaves_room_that_the_next_rows_take) {
  const StoreDirectory directory;
  fill(directory);
  auto store = open_small(directory, 200'000);
  ASSERT_TRUE(store->tidy());
  const std::int64_t file_bytes = store->status().file_bytes;
  for (int number = 2000; number < 2000 + losers; ++number) {
    ASSERT_TRUE(store->put_binary(sample_binary(number)));
  }
  ASSERT_TRUE(store->tidy());
  EXPECT_LE(store->status().file_bytes, file_bytes);
  EXPECT_TRUE(has_binary(*store, 2000)) << "written just now";
}

}  // namespace
}  // namespace normd
