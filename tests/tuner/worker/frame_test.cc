#include "tuner/worker/frame.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

namespace normd {
namespace {

class Sockets : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0);
  }
  void TearDown() override {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  Result<Frame> read_after_writing(const std::string& bytes) {
    std::jthread writer([&] {
      (void)!::write(ends_[1], bytes.data(), bytes.size());
      ::close(ends_[1]);
      ends_[1] = -1;
    });
    return read_frame(ends_[0]);
  }
  int ends_[2];
};

TEST_F(Sockets, a_frame_arrives_as_it_was_sent) {
  const Frame sent{.verb = "compile",
                   .fields = {{"log", "first\nsecond\\n=not a field"}, {"empty", ""}},
                   .body = std::string("\0binary\n\xff", 9)};
  ASSERT_TRUE(write_frame(ends_[1], sent));
  const auto got = read_frame(ends_[0]);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->verb, sent.verb);
  EXPECT_EQ(got->fields, sent.fields);
  EXPECT_EQ(got->body, sent.body);
}

TEST_F(Sockets, a_large_body_arrives_whole) {
  Frame sent{.verb = "binary", .fields = {}, .body = std::string(5'000'000, 'x')};
  std::jthread writer([&] { ASSERT_TRUE(write_frame(ends_[1], sent)); });
  const auto got = read_frame(ends_[0]);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, sent.body);
}

TEST_F(Sockets, a_closed_end_is_unavailable) {
  ::close(ends_[1]);
  ends_[1] = -1;
  EXPECT_EQ(read_frame(ends_[0]).error().code, ErrorCode::unavailable);
  EXPECT_EQ(write_frame(ends_[0], Frame{.verb = "x"}).error().code, ErrorCode::unavailable);
}

TEST_F(Sockets, a_frame_cut_short_is_unavailable) {
  const std::string bytes = encode(Frame{.verb = "trial", .fields = {{"a", "b"}}, .body = "body"});
  EXPECT_EQ(read_after_writing(bytes.substr(0, bytes.size() - 2)).error().code,
            ErrorCode::unavailable);
}

TEST_F(Sockets, garbage_is_refused_before_its_length_is_believed) {
  EXPECT_EQ(read_after_writing(std::string(64, 'g')).error().code, ErrorCode::data_loss);
}

TEST_F(Sockets, a_length_over_the_limit_is_refused) {
  std::string bytes = encode(Frame{.verb = "x"});
  bytes[16 + 7] = 0x7f;  // the body's length, its highest byte
  EXPECT_EQ(read_after_writing(bytes).error().code, ErrorCode::data_loss);
}

TEST(frame, headers_that_are_not_name_and_value_are_refused) {
  EXPECT_FALSE(decode_header(""));
  EXPECT_FALSE(decode_header("verb\nnovalue"));
  EXPECT_FALSE(decode_header("verb\n=value"));
  EXPECT_TRUE(decode_header("verb\nname="));
}

TEST(frame, any_text_survives_a_field) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string value;
    for (auto n = random() % 20; n > 0; --n) value += static_cast<char>("\\n\n=a"[random() % 5]);
    const Frame sent{.verb = "v", .fields = {{"name", value}}};
    const std::string bytes = encode(sent);
    const auto got = decode_header(std::string_view(bytes).substr(24));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->fields.at("name"), value);
  }
}

TEST(frame, a_missing_or_wrong_field_is_named) {
  const Frame frame{.verb = "trial", .fields = {{"number", "7x"}}};
  EXPECT_EQ(frame.field("launch").error().field, "launch");
  EXPECT_EQ(frame.integer("number").error().field, "number");
}

}  // namespace
}  // namespace normd
