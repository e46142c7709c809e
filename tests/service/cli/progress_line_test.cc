#include "service/cli/progress_line.h"

#include <gtest/gtest.h>

#include <sstream>

namespace normd {
namespace {

v1::TuneProgress step(const std::string& stage, int compiled) {
  v1::TuneProgress progress;
  progress.set_stage(stage);
  progress.set_candidates(40);
  progress.set_compiled(compiled);
  progress.set_best_ns(12'345);
  progress.set_copy_ns(11'111);
  return progress;
}

TEST(ProgressLine, the_line_says_how_far_it_is_and_the_best_so_far) {
  EXPECT_EQ(progress_text(step("racing", 12)),
            "racing: 12 of 40 compiled, 0 passed, 0 refused, best 12.3 us (90 % of copy)");
}

TEST(ProgressLine, rounds_of_the_race_are_told_and_those_thrown_away_apart) {
  v1::TuneProgress racing = step("racing", 40);
  racing.set_rounds_kept(12);
  EXPECT_TRUE(progress_text(racing).ends_with(" (90 % of copy), 12 rounds"))
      << progress_text(racing);
  EXPECT_EQ(rounds_text(24, 1), "24 rounds, 1 more thrown away");
  EXPECT_EQ(rounds_text(0, 3), "0 rounds, 3 more thrown away");
  EXPECT_EQ(rounds_text(1, 0), "1 round");
  EXPECT_EQ(rounds_text(0, 0), "");
}

TEST(ProgressLine, a_terminal_has_one_line_that_is_rewritten_and_cleared) {
  std::ostringstream out;
  {
    ProgressLine line(out, ProgressLine::Style::rewritten);
    line.show(step("compiling", 1));
    line.show(step("compiling", 2));
  }
  EXPECT_EQ(out.str().find('\n'), std::string::npos);
  EXPECT_TRUE(out.str().ends_with("\r\x1b[K"));
}

TEST(ProgressLine, elsewhere_each_stage_has_one_plain_line) {
  std::ostringstream out;
  ProgressLine line(out, ProgressLine::Style::plain);
  line.show(step("compiling", 1));
  line.show(step("compiling", 2));
  line.show(step("racing", 40));
  line.finish();
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ProgressLine, a_stage_from_outside_cannot_steer_the_terminal) {
  EXPECT_EQ(progress_text(step("\x1b[2J", 1)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace normd
