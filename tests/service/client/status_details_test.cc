#include "service/client/status_details.h"

#include <google/protobuf/any.pb.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <random>

namespace normd {
namespace {

std::string details_bytes() {
  google::rpc::BadRequest bad_request;
  auto* first = bad_request.add_field_violations();
  first->set_field("problem.columns");
  first->set_description("expected 1 to 16777216");
  auto* second = bad_request.add_field_violations();
  second->set_field("epsilon");
  second->set_description("is NaN");
  google::rpc::ErrorInfo info;
  info.set_reason("OUT_OF_RANGE");
  info.set_domain("normd");
  google::rpc::Status status;
  status.add_details()->PackFrom(bad_request);
  status.add_details()->PackFrom(info);
  return status.SerializeAsString();
}

TEST(StatusDetails, violations_and_reason_are_read) {
  const StatusDetails details = parse_status_details(details_bytes());
  ASSERT_EQ(details.violations.size(), 2u);
  EXPECT_EQ(details.violations[0].field, "problem.columns");
  EXPECT_EQ(details.violations[1].description, "is NaN");
  EXPECT_EQ(details.reason, "OUT_OF_RANGE");
}

TEST(StatusDetails, an_error_names_the_first_field_and_tells_of_the_others) {
  const grpc::Status status(grpc::StatusCode::INVALID_ARGUMENT, "columns: expected 1 to 16777216",
                            details_bytes());
  const Error error = error_of(status);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.field, "problem.columns");
  EXPECT_EQ(error.message, "columns: expected 1 to 16777216; epsilon: is NaN");
}

TEST(StatusDetails, every_code_becomes_an_error_of_its_kind) {
  const auto code = [](grpc::StatusCode status) { return error_of({status, "words"}).code; };
  EXPECT_EQ(code(grpc::StatusCode::UNAVAILABLE), ErrorCode::unavailable);
  EXPECT_EQ(code(grpc::StatusCode::DEADLINE_EXCEEDED), ErrorCode::deadline_exceeded);
  EXPECT_EQ(code(grpc::StatusCode::FAILED_PRECONDITION), ErrorCode::failed_precondition);
  EXPECT_EQ(code(grpc::StatusCode::RESOURCE_EXHAUSTED), ErrorCode::resource_exhausted);
  EXPECT_EQ(code(grpc::StatusCode::UNIMPLEMENTED), ErrorCode::unimplemented);
  EXPECT_EQ(code(grpc::StatusCode::UNKNOWN), ErrorCode::internal);
}

TEST(StatusDetails, an_error_without_words_still_says_something) {
  EXPECT_EQ(error_of({grpc::StatusCode::INTERNAL, ""}).message, "internal, without a word of why");
}

TEST(StatusDetails, damaged_details_are_left_out_and_never_crash) {
  const std::string good = details_bytes();
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (int k = 0; k < 3 && !bytes.empty(); ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    EXPECT_LE(parse_status_details(bytes).violations.size(), good.size());
  }
}

}  // namespace
}  // namespace normd
