// From a gRPC status to an Error: the code, the daemon's words, and the field violations that
// travel in google.rpc.Status details. The details come from outside: whatever they hold, nothing
// here crashes or reads beyond them. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace normd {

struct FieldViolation {
  std::string field;  // as normd.proto spells it: "problem.columns"
  std::string description;
};

struct StatusDetails {
  std::vector<FieldViolation> violations;  // of google.rpc.BadRequest
  std::string reason;                      // of google.rpc.ErrorInfo: one stable word
};

// Reads the serialised google.rpc.Status; what does not parse is left out.
StatusDetails parse_status_details(std::string_view bytes);

// `status` must not be ok. `field` of the Error is the first violation's; further ones are added to
// the message.
Error error_of(const grpc::Status& status);

}  // namespace normd
