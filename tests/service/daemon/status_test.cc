#include "service/daemon/status.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "kernels/limits.h"
#include "service/daemon/utf8.h"

namespace normd {
namespace {

google::rpc::Status details_of(const grpc::Status& status) {
  google::rpc::Status message;
  EXPECT_TRUE(message.ParseFromString(status.error_details()));
  return message;
}

template <typename Detail>
Detail detail_of(const grpc::Status& status) {
  Detail detail;
  const google::rpc::Status message = details_of(status);
  for (const auto& any : message.details()) {
    if (any.UnpackTo(&detail)) return detail;
  }
  ADD_FAILURE() << "no " << detail.GetTypeName();
  return detail;
}

TEST(Status, every_error_code_has_its_grpc_code) {
  const std::pair<ErrorCode, grpc::StatusCode> cases[] = {
      {ErrorCode::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
      {ErrorCode::not_found, grpc::StatusCode::NOT_FOUND},
      {ErrorCode::failed_precondition, grpc::StatusCode::FAILED_PRECONDITION},
      {ErrorCode::resource_exhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
      {ErrorCode::unavailable, grpc::StatusCode::UNAVAILABLE},
      {ErrorCode::deadline_exceeded, grpc::StatusCode::DEADLINE_EXCEEDED},
      {ErrorCode::unimplemented, grpc::StatusCode::UNIMPLEMENTED},
      {ErrorCode::data_loss, grpc::StatusCode::DATA_LOSS},
      {ErrorCode::internal, grpc::StatusCode::INTERNAL}};
  for (const auto& [code, expected] : cases) {
    EXPECT_EQ(to_status({code, "m", {}}).error_code(), expected);
  }
}

TEST(Status, the_field_at_fault_is_named_in_a_bad_request) {
  const auto status = to_status({ErrorCode::invalid_argument, "must be 1", "problem.columns"});
  const auto bad_request = detail_of<google::rpc::BadRequest>(status);
  ASSERT_EQ(bad_request.field_violations_size(), 1);
  EXPECT_EQ(bad_request.field_violations(0).field(), "problem.columns");
  const auto info = detail_of<google::rpc::ErrorInfo>(status);
  EXPECT_EQ(info.domain(), "normd");
  EXPECT_EQ(info.reason(), "INVALID_ARGUMENT");
}

TEST(Status, a_limit_is_named_with_a_hint_when_to_try_again) {
  const auto status = to_status({ErrorCode::resource_exhausted, "full", "serving_queue_max"});
  EXPECT_EQ(detail_of<google::rpc::ErrorInfo>(status).metadata().at("limit"), "serving_queue_max");
  EXPECT_GT(detail_of<google::rpc::RetryInfo>(status).retry_delay().nanos(), 0);
}

TEST(Status, a_long_log_is_cut_to_what_grpc_carries) {
  const std::string log(28'000, 'x');
  const auto status = to_status({ErrorCode::invalid_argument, log, log});
  EXPECT_EQ(status.error_message().size(), std::size_t{limits::status_message_bytes_max});
  EXPECT_TRUE(status.error_message().ends_with("x..."));
  EXPECT_LE(status.error_details().size(), std::size_t{limits::status_details_bytes_max});
}

TEST(Status, a_long_log_of_wide_characters_keeps_the_details_within_their_limit) {
  std::string log;
  for (int i = 0; i < 10'000; ++i) log += "\xf0\x9f\x98\x80";
  const auto status = to_status({ErrorCode::invalid_argument, log, log});
  EXPECT_LE(status.error_details().size(), std::size_t{limits::status_details_bytes_max});
  details_of(status);
}

TEST(Utf8, a_character_is_never_cut_in_half) {
  const std::string text = "aaaa\xc3\xa9\xc3\xa9\xc3\xa9";  // a a a a e-acute three times
  EXPECT_EQ(cut_utf8(text, 10), text);
  EXPECT_EQ(cut_utf8(text, 9), "aaaa\xc3\xa9...");
  EXPECT_EQ(cut_utf8(text, 8), "aaaa...");
  EXPECT_EQ(cut_utf8(text, 2), "..");
}

TEST(Utf8, what_is_no_character_is_replaced) {
  EXPECT_EQ(cut_utf8(std::string("a\0b", 3), 9), "a?b");
  EXPECT_EQ(cut_utf8("a\xff\xfe", 9), "a??");
  EXPECT_EQ(cut_utf8("\xc3", 9), "?");                 // the second byte is missing
  EXPECT_EQ(cut_utf8("\xc0\x80", 9), "??");            // an overlong zero
  EXPECT_EQ(cut_utf8("\xed\xa0\x80", 9), "???");       // a surrogate
  EXPECT_EQ(cut_utf8("\xf4\x90\x80\x80", 9), "????");  // beyond the last code point
  EXPECT_EQ(cut_utf8("\xe2\x82\xac", 9), "\xe2\x82\xac");
}

}  // namespace
}  // namespace normd
