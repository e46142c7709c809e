#include "service/client/client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <utility>

#include "kernels/check.h"
#include "kernels/limits.h"
#include "normd/v1/normd.grpc.pb.h"
#include "service/client/channel.h"
#include "service/client/run_wire.h"
#include "service/client/status_details.h"

namespace normd {
namespace {

void set_deadline(grpc::ClientContext& context, std::chrono::milliseconds time) {
  context.set_deadline(std::chrono::system_clock::now() + time);
}

}  // namespace

struct Client::Connection {
  ClientOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Normd::Stub> stub;

  // A unary call of a message that is serialised already, which only the generic stub sends.
  grpc::Status call_run(grpc::ClientContext& context, const grpc::ByteBuffer& request,
                        v1::RunResponse& response) {
    grpc::TemplatedGenericStub<grpc::ByteBuffer, v1::RunResponse> generic(channel);
    grpc::CompletionQueue queue;
    auto reader = generic.PrepareUnaryCall(&context, "/normd.v1.Normd/Run", request, &queue);
    reader->StartCall();
    grpc::Status status;
    reader->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    NORMD_CHECK(queue.Next(&tag, &ok) && ok);
    return status;
  }

  // Every call but Run and Tune: one message there, one back, within control_ms.
  template <typename Response, typename Request>
  Result<Response> control(grpc::Status (v1::Normd::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Response*),
                           const Request& request) {
    grpc::ClientContext context;
    set_deadline(context, std::chrono::milliseconds(options.control_ms));
    Response response;
    const grpc::Status status = (stub.get()->*method)(&context, request, &response);
    if (!status.ok()) return fail(error_of(status));
    return response;
  }
};

Client::Client(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::connect(const std::string& target, const ClientOptions& options) {
  const Result<std::string> address = grpc_target(target);
  if (!address) return fail(address.error());
  std::shared_ptr<grpc::Channel> channel = make_channel(*address);
  const Result<void> connected =
      wait_until_connected(*channel, *address,
                           {.time = std::chrono::milliseconds(options.connect_ms),
                            .through_refusals = options.wait_for_start});
  if (!connected) return fail(connected.error());
  auto connection = std::make_unique<Connection>();
  connection->options = options;
  connection->stub = v1::Normd::NewStub(channel);
  connection->channel = std::move(channel);
  return Client(std::move(connection));
}

Result<RunAnswer> Client::run(const RunCall& call) {
  const Result<grpc::ByteBuffer> request = run_message(call);
  if (!request) return fail(request.error());
  const std::int64_t default_ms =
      call.policy == v1::POLICY_WAIT ? connection_->options.wait_ms : connection_->options.run_ms;
  grpc::ClientContext context;
  set_deadline(context,
               call.deadline.count() > 0 ? call.deadline : std::chrono::milliseconds(default_ms));
  v1::RunResponse response;
  const grpc::Status status = connection_->call_run(context, *request, response);
  if (!status.ok()) return fail(error_of(status));
  return run_answer(response, call);
}

Result<v1::TuneResponse> Client::tune(
    const v1::TuneRequest& request, const std::function<void(const v1::TuneProgress&)>& progress) {
  grpc::ClientContext context;
  const std::int64_t budget_ms =
      request.budget_ms() > 0 ? request.budget_ms() : limits::tuning_budget_ms;
  set_deadline(context, std::chrono::milliseconds(connection_->options.tune_ms + budget_ms));
  auto reader = connection_->stub->Tune(&context, request);
  v1::TuneResponse response;
  std::optional<v1::TuneResponse> last;
  while (reader->Read(&response)) {
    if (progress && response.has_progress()) progress(response.progress());
    if (response.done()) last = std::move(response);
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return fail(error_of(status));
  if (!last) {
    return fail(ErrorCode::internal, "the daemon ended the tuning's stream without a result");
  }
  return *std::move(last);
}

Result<v1::ListWinnersResponse> Client::list_winners(const v1::ListWinnersRequest& request) {
  return connection_->control(&v1::Normd::Stub::ListWinners, request);
}

Result<v1::ExplainResponse> Client::explain(const v1::ExplainRequest& request) {
  return connection_->control(&v1::Normd::Stub::Explain, request);
}

Result<v1::ForgetResponse> Client::forget(const std::string& key) {
  v1::ForgetRequest request;
  request.set_key(key);
  return connection_->control(&v1::Normd::Stub::Forget, request);
}

Result<v1::GetStatusResponse> Client::status() {
  return connection_->control(&v1::Normd::Stub::GetStatus, v1::GetStatusRequest{});
}

}  // namespace normd
