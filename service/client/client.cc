#include "service/client/client.h"

#include <grpcpp/grpcpp.h>

#include <cstring>
#include <utility>

#include "kernels/limits.h"
#include "normd/v1/normd.grpc.pb.h"
#include "service/client/channel.h"
#include "service/client/status_details.h"

namespace normd {
namespace {

v1::DType wire(DType dtype) {
  return static_cast<v1::DType>(dtype);
}  // the numbers are the same
static_assert(static_cast<int>(DType::fp32) == v1::DTYPE_FP32);
static_assert(static_cast<int>(DType::fp16) == v1::DTYPE_FP16);
static_assert(static_cast<int>(DType::bf16) == v1::DTYPE_BF16);
static_assert(static_cast<int>(BucketMode::bucketed) == v1::BUCKET_MODE_BUCKETED);
static_assert(static_cast<int>(BucketMode::single_row_count) == v1::BUCKET_MODE_SINGLE_ROW_COUNT);
static_assert(static_cast<int>(BucketMode::batch_invariant) == v1::BUCKET_MODE_BATCH_INVARIANT);

std::string bytes_of(const Array& array) {
  return std::string(static_cast<const char*>(array.elements),
                     static_cast<std::size_t>(array.count) * size_bytes(array.dtype));
}

// Only what would read beyond the caller's memory or be sent in vain is checked here; the daemon
// names every other fault.
Result<void> check_call(const RunCall& call) {
  if (call.x.elements == nullptr && call.x.count != 0) {
    return fail(ErrorCode::invalid_argument, "x has a count but no elements", "x");
  }
  std::int64_t bytes = 0;
  for (const auto& [array, name] :
       {std::pair{&call.x, "x"}, std::pair{&call.gamma, "gamma"}, std::pair{&call.beta, "beta"}}) {
    if (array->count < 0 || array->count > limits::elements_max) {
      return fail(ErrorCode::invalid_argument,
                  std::string(name) + " has a count of " + std::to_string(array->count), name);
    }
    bytes += array->count * static_cast<std::int64_t>(size_bytes(array->dtype));
  }
  if (bytes > limits::message_bytes_max) {
    return fail(ErrorCode::resource_exhausted, "x, gamma and beta take " + std::to_string(bytes) +
                                                   " bytes; a message holds message_bytes_max = " +
                                                   std::to_string(limits::message_bytes_max) +
                                                   ". Send fewer rows at a time");
  }
  return {};
}

v1::RunRequest wire_request(const RunCall& call) {
  v1::RunRequest request;
  v1::Problem& problem = *request.mutable_problem();
  problem.set_op(v1::OP_LAYER_NORM);
  problem.set_rows(call.rows);
  problem.set_columns(call.columns);
  problem.set_x_dtype(wire(call.x.dtype));
  problem.set_y_dtype(wire(call.y_dtype.value_or(call.x.dtype)));
  problem.set_want_mean(call.want_mean);
  problem.set_want_rstd(call.want_rstd);
  request.set_epsilon(call.epsilon);
  request.set_policy(call.policy);
  request.set_bucket_mode(static_cast<v1::BucketMode>(call.bucket_mode));
  request.set_device(call.device);
  if (call.gamma.elements != nullptr) {
    problem.set_gamma_dtype(wire(call.gamma.dtype));
    request.set_gamma(bytes_of(call.gamma));
  }
  if (call.beta.elements != nullptr) {
    problem.set_beta_dtype(wire(call.beta.dtype));
    request.set_beta(bytes_of(call.beta));
  }
  if (call.x.elements != nullptr) request.set_x(bytes_of(call.x));
  return request;
}

Result<std::vector<float>> statistic(const std::string& bytes, std::string_view name) {
  if (bytes.size() % sizeof(float) != 0) {
    return fail(ErrorCode::internal, "the daemon sent " + std::to_string(bytes.size()) +
                                         " bytes of " + std::string(name) +
                                         ", which is no whole number of fp32 elements");
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// A wrong length must not reach a caller who indexes by the shape that was asked for.
Result<RunAnswer> answer_of(v1::RunResponse& response, const RunCall& call) {
  std::int64_t y_bytes = 0;
  const auto element_bytes =
      static_cast<std::int64_t>(size_bytes(call.y_dtype.value_or(call.x.dtype)));
  if (__builtin_mul_overflow(call.rows, call.columns, &y_bytes) ||
      __builtin_mul_overflow(y_bytes, element_bytes, &y_bytes)) {
    return fail(ErrorCode::internal, "the daemon answered for a shape that no answer can have");
  }
  auto mean = statistic(response.mean(), "mean");
  if (!mean) return fail(mean.error());
  auto rstd = statistic(response.rstd(), "rstd");
  if (!rstd) return fail(rstd.error());
  const auto rows = static_cast<std::size_t>(call.rows);
  if (response.y().size() != static_cast<std::size_t>(y_bytes) ||
      mean->size() != (call.want_mean ? rows : 0) || rstd->size() != (call.want_rstd ? rows : 0)) {
    return fail(ErrorCode::internal, "the daemon's answer does not have the size of the question");
  }
  return RunAnswer{
      .y = std::move(*response.mutable_y()),
      .mean = std::move(*mean),
      .rstd = std::move(*rstd),
      .origin = response.origin(),
      .candidate = response.candidate(),
      .key = response.key(),
      .device = response.device(),
      .kernel_ns = response.kernel_ns(),
      .daemon_ns = response.daemon_ns(),
  };
}

void set_deadline(grpc::ClientContext& context, std::chrono::milliseconds time) {
  context.set_deadline(std::chrono::system_clock::now() + time);
}

}  // namespace

struct Client::Connection {
  ClientOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Normd::Stub> stub;

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
  if (const Result<void> checked = check_call(call); !checked) return fail(checked.error());
  const v1::RunRequest request = wire_request(call);
  const std::int64_t default_ms =
      call.policy == v1::POLICY_WAIT ? connection_->options.wait_ms : connection_->options.run_ms;
  grpc::ClientContext context;
  set_deadline(context,
               call.deadline.count() > 0 ? call.deadline : std::chrono::milliseconds(default_ms));
  v1::RunResponse response;
  const grpc::Status status = connection_->stub->Run(&context, request, &response);
  if (!status.ok()) return fail(error_of(status));
  return answer_of(response, call);
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
