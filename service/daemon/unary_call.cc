#include "service/daemon/unary_call.h"

#include <chrono>
#include <utility>

#include "service/daemon/status.h"

namespace normd {

std::shared_ptr<UnaryCall> UnaryCall::begin(grpc::CallbackServerContext* context,
                                            grpc::ByteBuffer* response) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(context, response));
  call->self_ = call;
  return call;
}

void UnaryCall::reply(grpc::ByteBuffer answer) {
  if (answered_.exchange(true)) return;
  response_->Swap(&answer);
  Finish(grpc::Status::OK);
}

void UnaryCall::refuse(const Error& error) {
  if (!answered_.exchange(true)) Finish(to_status(error));
}

void UnaryCall::OnCancel() {
  cancellation_->cancel();
  if (!answered_.exchange(true)) Finish(cancelled_status(*context_));
}

grpc::Status cancelled_status(const grpc::CallbackServerContext& context) {
  if (context.deadline() <= std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED,
            "the call's deadline passed; a tuning that it caused goes on"};
  }
  return {grpc::StatusCode::CANCELLED, "the caller cancelled; a tuning that it caused goes on"};
}

}  // namespace normd
