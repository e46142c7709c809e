#include "service/cli/escape.h"

#include <gtest/gtest.h>

#include <random>

namespace normd {
namespace {

TEST(Escape, plain_text_and_printing_utf8_pass) {
  EXPECT_EQ(escaped("rows=1..4 x=bf16"), "rows=1..4 x=bf16");
  EXPECT_EQ(escaped("12 µs ± 1 %, 日本"), "12 µs ± 1 %, 日本");
}

TEST(Escape, control_characters_and_terminal_escapes_are_shown) {
  EXPECT_EQ(escaped("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escaped("a\r\n\tb\x7f"), "a\\x0d\\n\\tb\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"), "\\x9b");  // the one-byte form of ESC [
}

TEST(Escape, marks_that_reorder_or_hide_text_are_shown) {
  EXPECT_EQ(escaped("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(escaped("\xe2\x80\x8b"), "\\u200b");
  EXPECT_EQ(escaped("\xef\xbb\xbf"), "\\ufeff");
}

TEST(Escape, bytes_that_are_no_utf8_are_shown_one_by_one) {
  EXPECT_EQ(escaped("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(Escape, a_backslash_cannot_forge_an_escape) {
  EXPECT_EQ(escaped("\\x1b"), "\\\\x1b");
}

TEST(Escape, whatever_comes_in_nothing_but_printing_text_goes_out) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string out = escaped(text);
    for (const char c : out) {
      const auto byte = static_cast<unsigned char>(c);
      ASSERT_TRUE(byte >= 0x20 && byte != 0x7f) << out;
    }
    EXPECT_EQ(escaped(escaped("")), "");
  }
}

TEST(Escape, width_counts_code_points) {
  EXPECT_EQ(display_width("±1 %"), 4u);
}

}  // namespace
}  // namespace normd
