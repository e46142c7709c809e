#include "service/daemon/log.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(Log, a_plain_value_stands_as_it_is) {
  EXPECT_EQ(log_text({"rows", 4}), "rows=4");
  EXPECT_EQ(log_text({"device", "GPU-1"}), "device=GPU-1");
}

TEST(Log, anything_else_is_quoted_so_that_one_event_stays_one_line) {
  EXPECT_EQ(log_text({"key", "a b"}), "key=\"a b\"");
  EXPECT_EQ(log_text({"key", ""}), "key=\"\"");
  EXPECT_EQ(log_text({"key", "a\nb\"c"}), "key=\"a\\nb\\\"c\"");
  EXPECT_EQ(log_text({"key", "\x1b[2J"}), "key=\"\\u001b[2J\"");
}

TEST(Log, json_lines_carry_level_event_and_fields) {
  testing::internal::CaptureStderr();
  Log(LogLevel::info, LogFormat::json).warning("tuned", {{"key", "a \"b\""}, {"elapsed_ms", 7}});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(R"("level":"warning","event":"tuned","key":"a \"b\"","elapsed_ms":"7"})"),
            std::string::npos)
      << line;
}

TEST(Log, events_below_its_level_are_not_written) {
  testing::internal::CaptureStderr();
  const Log log(LogLevel::warning, LogFormat::text);
  log.info("quiet");
  log.error("loud");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("loud"), std::string::npos);
}

}  // namespace
}  // namespace normd
