#include "kernels/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

TEST(text, integers_have_exactly_one_spelling) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* wrong :
       {"", "-", "+5", "--5", "-0", "007", "00", "-01", " 5", "5 ", "5\n", "0x10", "5.0", "1e3",
        "5k", "1'000", "9223372036854775808", "-9223372036854775809", "18446744073709551617"}) {
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << "'" << wrong << "'";
  }
  EXPECT_EQ(parse_integer(std::string_view("5\0", 2)), std::nullopt);
  NORMD_EXPECT_PROPERTY("every integer comes back", [](std::int64_t value) {
    RC_ASSERT(parse_integer(std::to_string(value)) == std::optional(value));
  });
}

TEST(text, numbers_are_whole_texts_and_never_nan) {
  EXPECT_EQ(parse_number("1e-5"), 1e-5);
  EXPECT_EQ(parse_number("-0.25"), -0.25);
  EXPECT_EQ(parse_number("inf"), std::numeric_limits<double>::infinity());
  for (const char* wrong :
       {"", "nan", "-nan", "NaN", "+1", " 1", "1 ", "1,5", "0x1p3", "1e", "1e999", "one"}) {
    EXPECT_EQ(parse_number(wrong), std::nullopt) << "'" << wrong << "'";
  }
}

TEST(text, split_keeps_empty_parts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

// Reads the form `op a=<integer> b=<text>`.
Result<std::string> read(std::string_view text) {
  FieldReader reader(text);
  std::string seen(reader.word());
  seen += "/" + std::to_string(reader.integer("a"));
  seen += "/" + std::string(reader.value("b"));
  if (auto done = reader.finish(); !done) return fail(done.error());
  return seen;
}

TEST(text, a_text_in_the_written_form_is_read) {
  EXPECT_EQ(read("op a=4 b=x").value(), "op/4/x");
}

TEST(text, any_other_form_is_refused) {
  for (const char* wrong : {"",
                            " ",
                            "op",
                            "op a=4",
                            "op a=4 b=x ",
                            " op a=4 b=x",
                            "op  a=4 b=x",
                            "op a=4  b=x",
                            "op a=4 b=x c=1",
                            "op b=x a=4",
                            "op A=4 b=x",
                            "op a =4 b=x",
                            "op a= 4 b=x",
                            "op a=+4 b=x",
                            "op a=04 b=x",
                            "op a=4\tb=x",
                            "op=1 a=4 b=x",
                            "op ab=4 b=x",
                            "op a:4 b=x",
                            "op a b=x",
                            "op a=4,5 b=x",
                            "op a=99999999999999999999 b=x"}) {
    const auto outcome = read(wrong);
    ASSERT_FALSE(outcome) << "'" << wrong << "'";
    EXPECT_EQ(outcome.error().code, ErrorCode::invalid_argument);
  }
}

TEST(text, the_error_names_the_first_field_at_fault_and_the_whole_text) {
  const auto outcome = read("op a=four b");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().field, "a");
  EXPECT_NE(outcome.error().message.find("op a=four b"), std::string::npos);
}

TEST(text, after_the_first_fault_reads_are_neutral) {
  FieldReader reader("op a=x b=5");
  reader.word();
  EXPECT_EQ(reader.integer("a"), 0);
  EXPECT_EQ(reader.integer("b"), 0);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.word(), "");
  EXPECT_TRUE(reader.rest().empty());
  EXPECT_EQ(reader.finish().error().field, "a");
}

TEST(text, the_remaining_pairs_come_in_order) {
  FieldReader reader("op b=2 a=1 c=");
  reader.word();
  const auto pairs = reader.rest();
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].first, "b");
  EXPECT_EQ(pairs[1].second, "1");
  EXPECT_EQ(pairs[2].second, "");
  EXPECT_TRUE(reader.finish());
}

TEST(text, remaining_words_that_are_no_pairs_are_refused) {
  for (const char* wrong : {"op a", "op =1", "op a=1 ", "op a=1  b=2"}) {
    FieldReader reader(wrong);
    reader.word();
    reader.rest();
    EXPECT_FALSE(reader.finish()) << wrong;
  }
}

}  // namespace
}  // namespace normd
