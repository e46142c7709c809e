// TuneStream: the answer of one Tune call. Progress is offered as it comes and the newest waits
// while a message is on its way, so that a slow reader costs nothing but its own news. It keeps
// itself alive until gRPC is done; every method may be called from any thread.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>

#include "kernels/error.h"
#include "service/daemon/cancellation.h"
#include "tuner/guarded.h"

namespace normd {

class TuneStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  static std::shared_ptr<TuneStream> begin(grpc::CallbackServerContext* context);

  void offer(grpc::ByteBuffer progress);
  void finish(grpc::ByteBuffer last);  // sends the last message, then ends
  void refuse(const Error& error);
  Cancellation& cancellation() { return cancellation_; }

 private:
  struct State {
    bool writing = false;
    bool ended = false;                    // Finish was called, or is about to be
    std::optional<grpc::ByteBuffer> next;  // the newest progress, or the last message
    std::optional<grpc::Status> status;    // to end with when nothing is left to write
  };

  explicit TuneStream(grpc::CallbackServerContext* context) : context_(context) {}
  void go_on();
  void end_with(grpc::Status status, std::optional<grpc::ByteBuffer> last);
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { self_.reset(); }

  grpc::CallbackServerContext* const context_;  // valid until OnDone
  Guarded<State> state_;
  grpc::ByteBuffer in_flight_;  // of the write under way
  Cancellation cancellation_;
  std::shared_ptr<TuneStream> self_;
};

}  // namespace normd
