#include "service/client/run_wire.h"

#include <grpcpp/support/byte_buffer.h>

#include <cstring>
#include <utility>

#include "kernels/limits.h"

namespace normd {
namespace {

// The numbers are the same on the wire.
v1::DType wire(DType dtype) {
  return static_cast<v1::DType>(dtype);
}
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

// All of the request but x.
v1::RunRequest header_of(const RunCall& call) {
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

std::size_t bytes_in(const Array& array) {
  return static_cast<std::size_t>(array.count) * size_bytes(array.dtype);
}

// The tag and length of field x, which protobuf writes before its bytes.
std::string field_x(std::size_t bytes) {
  constexpr int length_delimited = 2;
  std::string text;
  for (std::size_t value :
       {std::size_t{v1::RunRequest::kXFieldNumber} << 3 | length_delimited, bytes}) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
  }
  return text;
}

}  // namespace

Result<grpc::ByteBuffer> run_message(const RunCall& call) {
  if (const Result<void> checked = check_call(call); !checked) return fail(checked.error());
  std::string header = header_of(call).SerializeAsString();
  const std::size_t x_bytes = bytes_in(call.x);
  if (x_bytes > 0) header += field_x(x_bytes);
  // gRPC may hold the slice longer than the call lasts, so it cannot be the caller's memory.
  grpc_slice raw = grpc_slice_malloc(header.size() + x_bytes);
  std::memcpy(GRPC_SLICE_START_PTR(raw), header.data(), header.size());
  if (x_bytes > 0) {
    std::memcpy(GRPC_SLICE_START_PTR(raw) + header.size(), call.x.elements, x_bytes);
  }
  const grpc::Slice slice(raw, grpc::Slice::STEAL_REF);
  return grpc::ByteBuffer(&slice, 1);
}

Result<RunAnswer> run_answer(v1::RunResponse& response, const RunCall& call) {
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

}  // namespace normd
