#include "service/client/status_details.h"

#include <google/protobuf/any.pb.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

#include "kernels/check.h"

namespace normd {
namespace {

ErrorCode code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return ErrorCode::invalid_argument;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorCode::not_found;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::failed_precondition;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::resource_exhausted;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::ABORTED:
      return ErrorCode::unavailable;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::deadline_exceeded;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorCode::unimplemented;
    case grpc::StatusCode::DATA_LOSS:
      return ErrorCode::data_loss;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

StatusDetails parse_status_details(std::string_view bytes) {
  StatusDetails found;
  google::rpc::Status status;
  if (!status.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return found;
  for (const google::protobuf::Any& detail : status.details()) {
    google::rpc::BadRequest bad_request;
    google::rpc::ErrorInfo error_info;
    if (detail.Is<google::rpc::BadRequest>() && detail.UnpackTo(&bad_request)) {
      for (const auto& violation : bad_request.field_violations()) {
        found.violations.push_back(
            {.field = violation.field(), .description = violation.description()});
      }
    } else if (detail.Is<google::rpc::ErrorInfo>() && detail.UnpackTo(&error_info)) {
      found.reason = error_info.reason();
    }
  }
  return found;
}

Error error_of(const grpc::Status& status) {
  NORMD_CHECK(!status.ok());
  const StatusDetails details = parse_status_details(status.error_details());
  Error error{.code = code_of(status.error_code()), .message = status.error_message()};
  for (const FieldViolation& violation : details.violations) {
    if (error.field.empty()) error.field = violation.field;
    if (error.message.find(violation.description) == std::string::npos) {
      error.message += "; " + violation.field + ": " + violation.description;
    }
  }
  if (error.message.empty()) {
    error.message = std::string(error_code_name(error.code)) + ", without a word of why";
  }
  return error;
}

}  // namespace normd
