#include "tuner/worker/messages.h"

#include <gtest/gtest.h>

#include <limits>

namespace normd {
namespace {

TEST(messages, a_source_survives_the_way_to_the_compiler) {
  const Source sent{.text = "text\nof \\ a kernel",
                    .entry = "normd_kernel",
                    .target = "sm_90",
                    .options = {"--std=c++17", "--define-macro=A=1"},
                    .digest = "abc"};
  const auto got = source_of(frame_of(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->text, sent.text);
  EXPECT_EQ(got->options, sent.options);
  EXPECT_EQ(got->digest, sent.digest);
  EXPECT_EQ(got->target, sent.target);
}

TEST(messages, a_binary_survives_the_way_back) {
  const Binary sent{.format = BinaryFormat::ptx,
                    .bytes = std::string("\0\1\2", 3),
                    .digest = "d",
                    .source_digest = "s",
                    .entry = "e",
                    .target = "compute_120",
                    .compiler = "NVRTC 13.0",
                    .registers = 40,
                    .spill_bytes = 0,
                    .log = "line\nline"};
  Frame frame{.verb = "binary"};
  put_binary(frame, sent);
  const auto got = binary_of(frame);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, sent.bytes);
  EXPECT_EQ(got->format, sent.format);
  EXPECT_EQ(got->registers, 40);
  EXPECT_EQ(got->log, sent.log);
}

TEST(messages, a_verdict_survives_even_an_infinite_error) {
  TrialBench::Tried sent;
  sent.verdict = {.kind = VerdictKind::refused,
                  .reason = Reason::wrong_result,
                  .detail = "y of row 3",
                  .error_over_bound = std::numeric_limits<double>::infinity()};
  sent.resources = {.registers = 32, .local_bytes = 8, .blocks_per_sm = 4};
  const auto got = tried_of(frame_of(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->verdict, sent.verdict);
  EXPECT_EQ(got->resources.blocks_per_sm, 4);
}

TEST(messages, samples_come_with_the_condition_of_the_device) {
  for (const char* held_back : {"", "hw_power_brake"}) {
    const TrialBench::Samples sent{
        .ns = {1.5, 1e9},
        .condition = {.sm_clock_mhz = 1980, .memory_clock_mhz = 3201, .held_back = held_back}};
    const auto got = samples_of(frame_of(sent));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->ns, sent.ns);
    EXPECT_EQ(got->condition, sent.condition);
  }
}

TEST(messages, samples_that_are_none_are_refused_with_their_field) {
  const Frame sound = frame_of(TrialBench::Samples{.ns = {1}, .condition = {}});
  const std::pair<const char*, const char*> bad[] = {
      {"ns", "1,,2"}, {"sm_clock_mhz", "-1"}, {"memory_clock_mhz", "fast"}};
  for (const auto& [field, text] : bad) {
    Frame frame = sound;
    frame.fields[field] = text;
    const auto got = samples_of(frame);
    ASSERT_FALSE(got) << field;
    EXPECT_EQ(got.error().field, field);
  }
  Frame frame = sound;
  frame.fields.erase("held_back");
  EXPECT_FALSE(samples_of(frame));
}

TEST(messages, an_error_frame_becomes_the_error_it_carries) {
  const auto got = expect(frame_of(Error{ErrorCode::data_loss, "bad digest", "binary"}), "verdict");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::data_loss);
  EXPECT_EQ(got.error().message, "bad digest");
  EXPECT_EQ(got.error().field, "binary");
}

TEST(messages, an_unexpected_verb_is_an_error) {
  EXPECT_EQ(expect(Frame{.verb = "samples"}, "verdict").error().code, ErrorCode::internal);
}

TEST(messages, a_binary_with_an_unknown_format_is_refused) {
  Frame frame{.verb = "binary"};
  put_binary(frame, Binary{});
  frame.fields["binary_format"] = "9";
  EXPECT_FALSE(binary_of(frame));
}

TEST(messages, lists_of_numbers_are_read_as_written) {
  EXPECT_EQ(*parse_numbers(join(std::vector<std::int64_t>{1, -1, 1LL << 40})),
            (std::vector<std::int64_t>{1, -1, 1LL << 40}));
  EXPECT_EQ(*parse_doubles(join(std::vector<double>{0.1, 1e-300, 123456.789})),
            (std::vector<double>{0.1, 1e-300, 123456.789}));
  EXPECT_FALSE(parse_numbers("1,,2"));
  EXPECT_FALSE(parse_numbers("1,x"));
  EXPECT_TRUE(parse_numbers("")->empty());
}

}  // namespace
}  // namespace normd
