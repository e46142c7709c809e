// UnaryCall: one call of a unary method, from its arrival to its one answer. It keeps itself alive
// until gRPC is done with it; whoever answers later shares it. reply() and refuse() may be called
// from any thread; only the first answer counts, and none is given after the caller has gone.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <memory>

#include "kernels/error.h"
#include "service/daemon/cancellation.h"

namespace normd {

class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  static std::shared_ptr<UnaryCall> begin(grpc::CallbackServerContext* context,
                                          grpc::ByteBuffer* response);

  void reply(grpc::ByteBuffer answer);
  void refuse(const Error& error);
  bool answered() const { return answered_; }
  const std::shared_ptr<Cancellation>& cancellation() const { return cancellation_; }

 private:
  UnaryCall(grpc::CallbackServerContext* context, grpc::ByteBuffer* response)
      : context_(context), response_(response) {}
  void OnCancel() override;
  void OnDone() override { self_.reset(); }

  grpc::CallbackServerContext* const context_;  // valid until OnDone
  grpc::ByteBuffer* const response_;            // valid until Finish
  std::atomic<bool> answered_{false};
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  std::shared_ptr<UnaryCall> self_;
};

// The status of a call whose caller has gone or whose time has run out.
grpc::Status cancelled_status(const grpc::CallbackServerContext& context);

}  // namespace normd
