#include "service/cli/table.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(Table, cells_are_padded_to_the_widest_and_lines_end_without_spaces) {
  Table table({{"name"}, {"value", Alignment::right}, {"note"}});
  table.add({"a", "1", ""});
  table.add({"longer", "1000000", "±"});
  EXPECT_EQ(table.text(false),
            "name      value  note\n"
            "a             1  -\n"
            "longer  1000000  ±\n");
}

TEST(Table, colour_wraps_whole_lines_and_only_when_asked_for) {
  Table table({{"name"}});
  table.add({"a"}, LineStyle::good);
  EXPECT_EQ(table.text(true), "name\n\x1b[32ma\x1b[0m\n");
  EXPECT_EQ(table.text(false), "name\na\n");
}

TEST(TableDeathTest, a_row_with_a_cell_too_few_is_our_own_fault) {
  Table table({{"a"}, {"b"}});
  EXPECT_DEATH(table.add({"1"}), "check failed");
}

}  // namespace
}  // namespace normd
