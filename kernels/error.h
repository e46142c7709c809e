// Expected failure as a value. Every interface of the project that can fail returns Result<T>;
// nothing throws across one. A broken assumption is not an Error: see check.h.
// Plain values; any thread may use them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace normd {

// What kind of failure it is, in the words of the gRPC status codes that it becomes at the wire
// (service/daemon/status.cc is the only place that translates).
enum class ErrorCode {
  invalid_argument,     // the caller's input is wrong; `field` names which part
  not_found,            // a thing that was named is not there
  failed_precondition,  // something must be repaired or provided first (NVRTC missing, FAIL policy)
  resource_exhausted,   // a named limit was reached
  unavailable,          // try again: stopping, or the device is lost
  deadline_exceeded,    // the time given ran out
  unimplemented,        // reserved in the interface, not built
  data_loss,            // stored bytes do not match their digest, or a file is damaged
  internal,             // a fault of ours or of the system below
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // what was tried, on what, and the failing tool's own words
  std::string field;    // the request field, flag or column at fault; empty if none is
};

template <typename T>
using Result = tl::expected<T, Error>;

// `return fail(ErrorCode::not_found, "no winner for " + key);`
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string field = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field)});
}

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// "invalid_argument" and so on: the spelling in logs, JSON and the database.
std::string_view error_code_name(ErrorCode code);

}  // namespace normd
