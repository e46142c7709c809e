#include "service/daemon/status.h"

#include <algorithm>
#include <cctype>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "service/daemon/utf8.h"

namespace normd {
namespace {

// How soon a client may try again after a limit was reached: about the time of a few requests.
constexpr int retry_ms = 100;

// Of one field's description; the message above it has the rest.
constexpr std::size_t description_bytes_max = 512;

grpc::StatusCode grpc_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::failed_precondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::resource_exhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::unavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::deadline_exceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::unimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case ErrorCode::data_loss:
      return grpc::StatusCode::DATA_LOSS;
    case ErrorCode::internal:
      return grpc::StatusCode::INTERNAL;
  }
  NORMD_CHECK(false);
}

// "INVALID_ARGUMENT": the stable reason word.
std::string reason_word(ErrorCode code) {
  std::string word(error_code_name(code));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return word;
}

}  // namespace

grpc::Status to_status(const Error& error) {
  google::rpc::Status status;
  status.set_code(grpc_code(error.code));
  status.set_message(cut_utf8(error.message, limits::status_message_bytes_max));

  google::rpc::ErrorInfo info;
  info.set_reason(reason_word(error.code));
  info.set_domain("normd");
  if (error.code == ErrorCode::resource_exhausted && !error.field.empty()) {
    (*info.mutable_metadata())["limit"] = cut_utf8(error.field, description_bytes_max);
  }
  status.add_details()->PackFrom(info);

  if (!error.field.empty() && error.code != ErrorCode::resource_exhausted) {
    google::rpc::BadRequest bad_request;
    auto* violation = bad_request.add_field_violations();
    violation->set_field(cut_utf8(error.field, description_bytes_max));
    violation->set_description(cut_utf8(error.message, description_bytes_max));
    status.add_details()->PackFrom(bad_request);
  }
  if (error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::unavailable) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(retry_ms * 1'000'000);
    status.add_details()->PackFrom(retry);
  }
  const std::string details = status.SerializeAsString();
  NORMD_CHECK(details.size() <= limits::status_details_bytes_max);
  return {grpc_code(error.code), status.message(), details};
}

}  // namespace normd
