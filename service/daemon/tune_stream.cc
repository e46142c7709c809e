#include "service/daemon/tune_stream.h"

#include <utility>

#include "service/daemon/status.h"
#include "service/daemon/unary_call.h"

namespace normd {

std::shared_ptr<TuneStream> TuneStream::begin(grpc::CallbackServerContext* context) {
  std::shared_ptr<TuneStream> stream(new TuneStream(context));
  stream->self_ = stream;
  return stream;
}

void TuneStream::offer(grpc::ByteBuffer progress) {
  {
    const auto state = state_.lock();
    if (state->status) return;  // the end is known: progress is no news
    state->next = std::move(progress);
  }
  go_on();
}

void TuneStream::finish(grpc::ByteBuffer last) {
  end_with(grpc::Status::OK, std::move(last));
}

void TuneStream::refuse(const Error& error) {
  end_with(to_status(error), std::nullopt);
}

void TuneStream::end_with(grpc::Status status, std::optional<grpc::ByteBuffer> last) {
  {
    const auto state = state_.lock();
    if (state->status) return;
    state->status = std::move(status);
    state->next = std::move(last);
  }
  go_on();
}

// Starts the next write, or ends. gRPC is called without the lock, since it may call back.
void TuneStream::go_on() {
  std::optional<grpc::Status> status;
  {
    const auto state = state_.lock();
    if (state->writing || state->ended) return;
    if (state->next) {
      in_flight_ = std::move(*state->next);
      state->next.reset();
      state->writing = true;
    } else if (state->status) {
      status = state->status;
      state->ended = true;
    } else {
      return;
    }
  }
  if (status) {
    Finish(*status);
  } else {
    StartWrite(&in_flight_);
  }
}

void TuneStream::OnWriteDone(bool ok) {
  {
    const auto state = state_.lock();
    state->writing = false;
    if (!ok) state->next.reset();  // the caller has gone
  }
  go_on();
}

void TuneStream::OnCancel() {
  cancellation_.cancel();
  end_with(cancelled_status(*context_), std::nullopt);
}

}  // namespace normd
