#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/limits.h"
#include "service/daemon/wire.h"

namespace normd {
namespace {

constexpr float epsilon_unless_given = 1e-5f;
constexpr int align_bytes_max = 64;
constexpr std::size_t key_bytes_max = 1024;

tl::unexpected<Error> refuse(std::string field, const std::string& what) {
  std::string message = field + " " + what;
  return fail(ErrorCode::invalid_argument, std::move(message), std::move(field));
}

tl::unexpected<Error> refuse_value(std::string field, int value) {
  return refuse(std::move(field), "has the unknown value " + std::to_string(value));
}

// Empty for DTYPE_UNSPECIFIED.
Result<std::optional<DType>> read_dtype(v1::DType dtype, const std::string& field) {
  switch (static_cast<int>(dtype)) {
    case v1::DTYPE_UNSPECIFIED:
      return std::nullopt;
    case v1::DTYPE_FP32:
      return DType::fp32;
    case v1::DTYPE_FP16:
      return DType::fp16;
    case v1::DTYPE_BF16:
      return DType::bf16;
    case v1::DTYPE_FP8_E4M3:
    case v1::DTYPE_FP8_E5M2:
    case 6:
    case 7:
      return fail(ErrorCode::unimplemented,
                  field + ": 8-bit element types are reserved and not built yet", field);
    default:
      return refuse_value(field, dtype);
  }
}

// The four dtypes of a message into `problem`.
Result<void> read_dtypes(const v1::Problem& message, Problem& problem) {
  const auto x = read_dtype(message.x_dtype(), "problem.x_dtype");
  if (!x) return fail(x.error());
  if (!*x) return refuse("problem.x_dtype", "must be given");
  const auto y = read_dtype(message.y_dtype(), "problem.y_dtype");
  if (!y) return fail(y.error());
  const auto gamma = read_dtype(message.gamma_dtype(), "problem.gamma_dtype");
  if (!gamma) return fail(gamma.error());
  const auto beta = read_dtype(message.beta_dtype(), "problem.beta_dtype");
  if (!beta) return fail(beta.error());
  problem.x = **x;
  problem.y = y->value_or(**x);
  problem.gamma = *gamma;
  problem.beta = *beta;
  return {};
}

// The stride in elements, and whether x still fits the limits with the gaps between its rows.
Result<std::int64_t> read_stride(const v1::Problem& message) {
  const std::int64_t stride =
      message.x_row_stride() == 0 ? message.columns() : message.x_row_stride();
  const std::string field = "problem.x_row_stride";
  if (stride < message.columns() || stride > limits::elements_max) {
    return refuse(field, "must be 0, or columns (" + std::to_string(message.columns()) + ") to " +
                             std::to_string(limits::elements_max) + ", got " +
                             std::to_string(stride));
  }
  std::int64_t elements = 0;
  if (message.rows() > 1 && (__builtin_mul_overflow(message.rows() - 1, stride, &elements) ||
                             elements > limits::elements_max - message.columns())) {
    return refuse(field, "x with its gaps has more than " + std::to_string(limits::elements_max) +
                             " elements");
  }
  return stride;
}

}  // namespace

Result<WireProblem> read_problem(const v1::Problem& message) {
  const int op = message.op();
  if (op != v1::OP_UNSPECIFIED && op != v1::OP_LAYER_NORM) return refuse_value("problem.op", op);
  WireProblem wire{.problem = {.rows = message.rows(),
                               .columns = message.columns(),
                               .stats = make_stats(message.want_mean(), message.want_rstd())}};
  if (auto dtypes = read_dtypes(message, wire.problem); !dtypes) return fail(dtypes.error());
  if (auto valid = validate(wire.problem); !valid) {
    Error error = std::move(valid.error());
    error.field = "problem." + error.field;
    error.message = "problem." + error.message;
    return fail(std::move(error));
  }
  const auto stride = read_stride(message);
  if (!stride) return fail(stride.error());
  wire.x_row_stride = *stride;
  if (*stride != message.columns()) wire.problem.rows_layout = RowsLayout::strided;
  return wire;
}

Result<Problem> with_alignment(const WireProblem& wire, std::int64_t align_bytes,
                               const DeviceSpec& spec) {
  Problem problem = wire.problem;
  const std::string field = "align_bytes";
  if (align_bytes < 0 || align_bytes > align_bytes_max) {
    return refuse(field, "must be 0 to " + std::to_string(align_bytes_max) + ", got " +
                             std::to_string(align_bytes));
  }
  problem.align_bytes = align_bytes == 0 ? spec.vector_bytes_max : static_cast<int>(align_bytes);
  if (auto valid = validate(problem); !valid) return refuse(field, valid.error().message);
  problem.align_bytes = std::min(problem.align_bytes, spec.vector_bytes_max);
  if (problem.rows_layout == RowsLayout::strided) {
    // The class must divide both strides in bytes; y is without gaps.
    const auto divides = [](std::int64_t stride_bytes) {
      const auto bits = static_cast<std::uint64_t>(stride_bytes);
      return static_cast<int>(std::min<std::uint64_t>(bits & (~bits + 1), align_bytes_max));
    };
    problem.align_bytes =
        std::min({problem.align_bytes,
                  divides(wire.x_row_stride * static_cast<std::int64_t>(size_bytes(problem.x))),
                  divides(problem.columns * static_cast<std::int64_t>(size_bytes(problem.y)))});
  }
  return problem;
}

Result<BucketMode> read_bucket_mode(v1::BucketMode mode) {
  switch (static_cast<int>(mode)) {
    case v1::BUCKET_MODE_UNSPECIFIED:
    case v1::BUCKET_MODE_BUCKETED:
      return BucketMode::bucketed;
    case v1::BUCKET_MODE_SINGLE_ROW_COUNT:
      return BucketMode::single_row_count;
    case v1::BUCKET_MODE_BATCH_INVARIANT:
      return BucketMode::batch_invariant;
    default:
      return refuse_value("bucket_mode", mode);
  }
}

Result<Policy> read_policy(v1::Policy policy, Policy otherwise) {
  switch (static_cast<int>(policy)) {
    case v1::POLICY_UNSPECIFIED:
      return otherwise;
    case v1::POLICY_FALLBACK:
      return Policy::fallback;
    case v1::POLICY_WAIT:
      return Policy::wait;
    case v1::POLICY_FAIL:
      return Policy::fail;
    default:
      return refuse_value("policy", policy);
  }
}

Result<float> read_epsilon(const v1::RunRequest& request) {
  if (!request.has_epsilon()) return epsilon_unless_given;
  const float epsilon = request.epsilon();
  if (!std::isfinite(epsilon) || epsilon < 0) {
    return refuse("epsilon", "must be finite and not negative, got " + std::to_string(epsilon));
  }
  return epsilon;
}

Result<void> check_text(std::string_view text, std::size_t bytes_max, const char* field) {
  if (text.size() > bytes_max) {
    return refuse(field, "has " + std::to_string(text.size()) + " bytes, more than " +
                             std::to_string(bytes_max));
  }
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char byte) { return byte >= 0x20 && byte < 0x7f; });
  if (!printable) return refuse(field, "must be printable ASCII");
  return {};
}

Result<Key> read_key(const std::string& text) {
  if (auto checked = check_text(text, key_bytes_max, "key"); !checked) return fail(checked.error());
  auto key = parse_key(text);
  if (!key) {
    return fail(ErrorCode::invalid_argument,
                "key is not the canonical text of one: " + key.error().message, "key");
  }
  return key;
}

}  // namespace normd
