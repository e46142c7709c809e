#include "kernels/error.h"

namespace normd {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::failed_precondition: return "failed_precondition";
    case ErrorCode::resource_exhausted: return "resource_exhausted";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::deadline_exceeded: return "deadline_exceeded";
    case ErrorCode::unimplemented: return "unimplemented";
    case ErrorCode::data_loss: return "data_loss";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

}  // namespace normd
