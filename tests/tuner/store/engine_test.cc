#include "tuner/store/engine.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(EngineTest, a_version_with_the_log_reset_bug_is_named_and_a_later_one_is_not) {
  EXPECT_TRUE(engine_note_of(3'040'001).starts_with("SQLite 3.40.1 is older than 3.51.3"));
  EXPECT_FALSE(engine_note_of(3'051'002).empty());
  EXPECT_EQ(engine_note_of(3'051'003), "");
  EXPECT_EQ(engine_note_of(4'000'000), "");
}

TEST(EngineTest, the_note_is_on_the_library_that_runs) {
  EXPECT_TRUE(engine_note().empty() || engine_note().starts_with(engine_name() + " "))
      << engine_note();
}

}  // namespace
}  // namespace normd
