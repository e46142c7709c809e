#include "service/cli/quantity.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(Quantity, a_shape_is_two_numbers_with_an_x_between) {
  const Result<Shape> shape = parse_shape("4096x8192");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->rows, 4096);
  EXPECT_EQ(shape->columns, 8192);
  EXPECT_TRUE(parse_shape("0x1"));
}

TEST(Quantity, a_wrong_shape_is_refused_at_the_position_of_the_fault) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "position 1: expected the digits of ROWS"},
      {"x8", "position 1: expected the digits of ROWS"},
      {"-1x8", "position 1: expected the digits of ROWS"},
      {"+1x8", "position 1"},
      {" 1x8", "position 1"},
      {"4096", "position 5: expected 'x'"},
      {"4096X8", "position 5: expected 'x'"},
      {"4,096x8", "position 2: expected 'x'"},
      {"4096x", "position 6: expected the digits of COLUMNS"},
      {"4096x-8", "position 6: expected the digits of COLUMNS"},
      {"4096x8k", "position 7: expected the end of COLUMNS"},
      {"4096x8x2", "position 7: expected the end"},
      {"1e3x8", "position 2: expected 'x'"},
      {"0x10x8", "position 5: expected the end"},
      {"99999999999999999999x8", "position 1: expected ROWS that fit 63 bits"},
      {"8x18446744073709551617", "position 3: expected COLUMNS that fit 63 bits"},
  };
  for (const auto& [text, words] : wrong) {
    const Result<Shape> shape = parse_shape(text);
    ASSERT_FALSE(shape) << text;
    EXPECT_NE(shape.error().message.find(words), std::string::npos)
        << text << ": " << shape.error().message;
    EXPECT_EQ(shape.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Quantity, durations_need_a_unit_and_do_not_wrap) {
  EXPECT_EQ(parse_duration_ms("500ms", "--budget"), 500);
  EXPECT_EQ(parse_duration_ms("2s", "--budget"), 2000);
  EXPECT_EQ(parse_duration_ms("10m", "--budget"), 600'000);
  for (const char* text : {"", "2", "s", "2 s", "-2s", "+2s", "2.5s", "2sec", "2S",
                           "9223372036854775807s", "99999999999999999999ms"}) {
    const auto duration_ms = parse_duration_ms(text, "--budget");
    ASSERT_FALSE(duration_ms) << text;
    EXPECT_EQ(duration_ms.error().field, "--budget");
  }
}

TEST(Quantity, integers_are_digits_within_their_range) {
  EXPECT_EQ(parse_integer_in("16", {.min = 1, .max = 32}, "--align-bytes"), 16);
  for (const char* text :
       {"", "0", "33", "-1", "+1", "1 ", "0x1", "1.0", "1e1", "18446744073709551632"}) {
    EXPECT_FALSE(parse_integer_in(text, {.min = 1, .max = 32}, "--align-bytes")) << text;
  }
}

TEST(Quantity, epsilon_is_a_finite_number_of_0_or_more) {
  EXPECT_EQ(parse_epsilon("1e-5"), 1e-5f);
  EXPECT_EQ(parse_epsilon("0"), 0.0f);
  EXPECT_EQ(parse_epsilon(".5"), 0.5f);
  for (const char* text :
       {"", "-1e-5", "+1", "nan", "inf", "1e39", "1e999", "1e-5x", "1,5", "0x1p-3", " 1"}) {
    EXPECT_FALSE(parse_epsilon(text)) << text;
  }
}

TEST(Quantity, times_are_read_at_a_glance) {
  EXPECT_EQ(format_ns(812), "812 ns");
  EXPECT_EQ(format_ns(1234), "1.23 us");
  EXPECT_EQ(format_ns(12'345), "12.3 us");
  EXPECT_EQ(format_ns(123'456), "123 us");
  EXPECT_EQ(format_ns(999'600), "1.00 ms");
  EXPECT_EQ(format_ns(2.1e9), "2.10 s");
  EXPECT_EQ(format_ns(0), "");
}

TEST(Quantity, sizes_shares_and_dates) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(20'600), "20.1 KiB");
  EXPECT_EQ(format_share(87, 100), "87 %");
  EXPECT_EQ(format_share(1, 0), "");
  EXPECT_EQ(format_time(0), "");
  EXPECT_EQ(format_time(1'769'860'800), "2026-01-31 12:00");
}

}  // namespace
}  // namespace normd
