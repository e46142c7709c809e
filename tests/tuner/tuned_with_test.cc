#include "tuner/tuned_with.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

const Winner winner{
    .driver = "13.0 (580)", .compiler = "NVRTC 13.0", .catalog_digest = "0123456789"};
const TunedWith same{"13.0 (580)", "NVRTC 13.0", "0123456789"};

TEST(TunedWith, the_same_is_no_change) {
  EXPECT_EQ(changes_since(winner, same), "");
}

TEST(TunedWith, each_change_is_named_with_old_and_new) {
  EXPECT_EQ(changes_since(winner, {"13.1 (590)", same.compiler, same.catalog_digest}),
            "driver '13.0 (580)' -> '13.1 (590)'");
  EXPECT_EQ(changes_since(winner, {same.driver, "NVRTC 13.1", same.catalog_digest}),
            "compiler 'NVRTC 13.0' -> 'NVRTC 13.1'");
  EXPECT_EQ(changes_since(winner, {same.driver, same.compiler, "abcdefghij"}),
            "catalog 01234567 -> abcdefgh");
  EXPECT_EQ(changes_since(winner, {"a", "b", "c"}),
            "driver '13.0 (580)' -> 'a'; compiler 'NVRTC 13.0' -> 'b'; catalog 01234567 -> c");
}

TEST(TunedWith, a_catalog_that_nobody_wrote_down_has_changed) {
  Winner unknown = winner;
  unknown.catalog_digest.clear();
  EXPECT_EQ(changes_since(unknown, same), "catalog unknown -> 01234567");
  EXPECT_EQ(changes_since(unknown, {same.driver, same.compiler, ""}), "catalog unknown -> unknown");
}

}  // namespace
}  // namespace normd
