// RunMessage: the request and the answer of Run as they lie in gRPC's buffers. The header fields
// are parsed as a message; the tensors are found in place and never copied here. The pieces of a
// request point into its buffer, which it holds. One thread at a time.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <vector>

#include "normd/v1/normd.pb.h"
#include "service/daemon/serve_job.h"
#include "service/daemon/wire.h"

namespace normd {

struct RunMessage {
  v1::RunRequest header;  // without its tensors
  Pieces x;
  Pieces gamma;
  Pieces beta;
  // What the pieces point into; small slices lie within the buffer itself, so it never moves.
  std::unique_ptr<grpc::ByteBuffer> bytes;
};

// Takes the bytes out of `request`. invalid_argument for bytes that are no RunRequest.
Result<RunMessage> read_run_message(grpc::ByteBuffer&& request);

// Whether the tensors have exactly the bytes that the problem implies, and the answer fits a
// message. The Error names "x", "gamma" or "beta", or the limit.
Result<void> check_tensors(const RunMessage& message, const WireProblem& wire);

// Room for the outputs, in slices that become the answer without a copy.
class RunAnswerBytes {
 public:
  explicit RunAnswerBytes(const Problem& problem);
  std::span<std::byte> y() { return room(y_); }
  std::span<std::byte> mean() { return room(mean_); }
  std::span<std::byte> rstd() { return room(rstd_); }
  // The whole response: `header` has no tensors. Call once.
  grpc::ByteBuffer finish(const v1::RunResponse& header) const;

 private:
  static std::span<std::byte> room(grpc::Slice& slice);
  grpc::Slice y_;
  grpc::Slice mean_;
  grpc::Slice rstd_;
};

// Bytes of y, mean and rstd together.
std::int64_t answer_bytes(const Problem& problem);

}  // namespace normd
