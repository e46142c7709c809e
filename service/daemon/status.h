// From an Error to the grpc::Status that a client sees, and the only place where one becomes the
// other. The message and the details are cut to what gRPC carries; the whole text is for the log.
// Pure functions; any thread.
#pragma once

#include <grpcpp/support/status.h>

#include "kernels/error.h"

namespace normd {

grpc::Status to_status(const Error& error);

}  // namespace normd
