#include "service/daemon/store_watch.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

// What looking at each status in turn writes to the log; the first is that at the start.
std::vector<std::string> lines_for(const std::vector<StoreStatus>& statuses) {
  testing::internal::CaptureStderr();
  {
    const Log log(LogLevel::info, LogFormat::text);
    StoreWatch watch(statuses.front(), log);
    for (std::size_t i = 1; i < statuses.size(); ++i) watch.look(statuses[i]);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

const StoreStatus well{.path = "/d/normd.db", .persistent = true};
const StoreStatus full{.persistent = false, .degraded_reason = "disk full", .rows_waiting = 3};

TEST(StoreWatch, a_store_that_is_well_is_no_news) {
  EXPECT_TRUE(lines_for({well, well, well}).empty());
}

TEST(StoreWatch, a_disk_that_fills_up_and_is_freed_is_told_once_each) {
  StoreStatus other_words = full;
  other_words.degraded_reason = "still full";
  const auto lines = lines_for({well, full, other_words, full, well, well});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("warning store_degraded reason=\"disk full\" rows_waiting=3"),
            std::string::npos)
      << lines[0];
  EXPECT_NE(lines[1].find("info store_persistent path=/d/normd.db"), std::string::npos) << lines[1];
}

TEST(StoreWatch, what_is_wrong_at_the_start_is_told_at_the_start) {
  StoreStatus status = full;
  status.set_aside = "normd.db.corrupt";
  EXPECT_EQ(lines_for({status, status}).size(), 2u);
}

TEST(StoreWatch, rows_that_were_let_go_are_told_as_they_go) {
  StoreStatus some = well, more = well;
  some.rows_evicted = 5;
  more.rows_evicted = 12;
  const auto lines = lines_for({well, some, some, more});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("rows=5"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("rows=7"), std::string::npos) << lines[1];
}

}  // namespace
}  // namespace normd
