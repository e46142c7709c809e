// The Run call on the wire: x, which is nearly all of a request, is copied once, straight from the
// caller's memory into the message that is sent. Pure functions; any thread.
#pragma once

#include "service/client/client.h"

namespace grpc {
class ByteBuffer;
}  // namespace grpc

namespace normd {

// The serialised RunRequest. Refuses only what would read beyond the caller's memory or be sent in
// vain; the daemon names every other fault.
Result<grpc::ByteBuffer> run_message(const RunCall& call);

// Takes y out of the response. A size that is not the question's is an Error, because callers index
// the answer by the shape that they asked for.
Result<RunAnswer> run_answer(v1::RunResponse& response, const RunCall& call);

}  // namespace normd
