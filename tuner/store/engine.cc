#include "tuner/store/engine.h"

#include <sqlite3.h>

namespace normd {
namespace {

// The first one without the WAL-reset bug.
constexpr int version_without_reset_bug = 3'051'003;

}  // namespace

std::string engine_name() {
  return std::string("SQLite ") + sqlite3_libversion();
}

std::string engine_note() {
  return engine_note_of(sqlite3_libversion_number());
}

std::string engine_note_of(int version) {
  if (version >= version_without_reset_bug) return {};
  return "SQLite " + std::to_string(version / 1'000'000) + "." +
         std::to_string(version / 1'000 % 1'000) + "." + std::to_string(version % 1'000) +
         " is older than 3.51.3: two that write or checkpoint at nearly the same moment could "
         "damage the file. normd and normctl take turns; let no other program write to it";
}

}  // namespace normd
