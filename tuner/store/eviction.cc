#include "tuner/store/eviction.h"

#include <string>
#include <vector>

#include "kernels/limits.h"
#include "tuner/store/sql.h"
#include "tuner/store/tables.h"

namespace normd {
namespace {

// Of a key: a stamp of use is written at most once an hour, so that it may be behind by one.
constexpr std::int64_t key_in_use_s = 2 * 3600;

// Of a binary that no winner needs: longer than any tuning, which may still be at work with it.
constexpr std::int64_t binary_in_use_s = 900;
static_assert(binary_in_use_s * 1000 > limits::tuning_budget_ms_max);

// So many rows that a batch is one short write: a few megabytes.
constexpr int binaries_in_batch = 256;
constexpr int keys_in_batch = 32;

Result<std::vector<std::string>> idle_keys(Database& database, std::int64_t before_unix_s) {
  std::vector<std::string> keys;
  Use rows = database.use(sql::find_idle_keys);
  rows(before_unix_s)(keys_in_batch);
  while (true) {
    const Result<bool> more = rows.next();
    if (!more) return fail(more.error());
    if (!*more) return keys;
    keys.push_back(rows.text(0));
  }
}

}  // namespace

Result<std::int64_t> used_bytes(Database& database) {
  const auto pages = database.integer(sql::page_count);
  const auto free_pages = database.integer(sql::free_page_count);
  const auto page_bytes = database.integer(sql::page_bytes);
  for (const auto* figure : {&pages, &free_pages, &page_bytes}) {
    if (!*figure) return fail(figure->error());
  }
  return (*pages - *free_pages) * *page_bytes;
}

Result<std::int64_t> evict_batch(Database& database, std::int64_t now_unix_s) {
  auto done =
      database.use(sql::evict_binaries)(now_unix_s - binary_in_use_s)(binaries_in_batch).run();
  if (!done) return fail(done.error());
  std::int64_t rows = database.changes();
  if (rows > 0) return rows;
  const auto keys = idle_keys(database, now_unix_s - key_in_use_s);
  if (!keys) return fail(keys.error());
  for (const std::string& key : *keys) {
    const auto erased = erase_key(database, key);
    if (!erased) return fail(erased.error());
    rows += *erased;
  }
  return rows;
}

}  // namespace normd
