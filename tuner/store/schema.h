// The schema's version and the steps to it, and a judgement of what a database file is. Pure
// functions on a Database; its thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tuner/store/sqlite.h"

namespace normd {

inline constexpr std::int64_t store_application_id = 1852797549;  // "norm"
inline constexpr int store_schema_version = 2;

// One step forward. Its text sets user_version to to_version itself.
struct Migration {
  int to_version = 0;
  const char* sql = nullptr;
};

std::span<const Migration> migrations();

// Takes every step above the database's version, each in one IMMEDIATE transaction, so that a step
// is taken whole or not at all and by one process only. There is no way back. True if there were
// any.
Result<bool> migrate(Database& database, std::span<const Migration> steps);

// For a store that may not be changed: lets every statement that reads find the tables of today in
// one of an older version. What an older row lacks is empty.
Result<void> view_as_now(Database& database);

enum class FileKind : std::uint8_t {
  empty = 1,    // no table yet: a store may begin here
  store = 2,    // ours, of this version or an older one
  newer = 3,    // ours, of a version that this program does not know
  foreign = 4,  // another program's database
  damaged = 5,
};

struct FileJudgement {
  FileKind kind = FileKind::damaged;
  std::string words;  // what speaks against it, for newer, foreign and damaged
};

// `thorough` looks at every page (quick_check). An Error is a failure to read at all.
Result<FileJudgement> judge(Database& database, bool thorough);

}  // namespace normd
