#include "service/cli/run_question.h"

#include <filesystem>
#include <vector>

#include "service/cli/escape.h"
#include "service/cli/quantity.h"

namespace normd {
namespace {

struct TensorFlags {
  std::string flag;
  std::string path;
  std::string convert_to;
};

Result<TensorFile> read_one(const TensorFlags& flags, const std::string& dtype) {
  TensorReading reading{.flag = flags.flag, .uint16_is_bf16 = dtype == "bf16"};
  if (!flags.convert_to.empty()) {
    const auto to = parse_dtype_flag(flags.convert_to, flags.flag + "-dtype");
    if (!to) return fail(to.error());
    reading.convert_to = *to;
  }
  return read_tensor(flags.path, reading);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failed;
  if (std::filesystem::equivalent(a, b, failed)) return true;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  };
  return place(a) == place(b);
}

// Each output has a file of its own, or one answer would be lost, or an input. What is no regular
// file, such as /dev/null, keeps nothing anyway.
Result<void> check_outputs(const RunFlags& flags) {
  struct File {
    const char* flag;
    const std::string& path;
  };
  const File outputs[] = {{"--out", flags.out}, {"--mean", flags.mean}, {"--rstd", flags.rstd}};
  std::vector<File> taken = {{"--x", flags.x},
                             {"--gamma", flags.gamma},
                             {"--beta", flags.beta},
                             {"--expect", flags.expect}};
  std::error_code failed;
  for (const File& output : outputs) {
    const bool special = std::filesystem::exists(output.path, failed) &&
                         !std::filesystem::is_regular_file(output.path, failed);
    if (output.path.empty() || special) continue;
    for (const File& other : taken) {
      if (other.path.empty() || !same_file(output.path, other.path)) continue;
      return fail(ErrorCode::invalid_argument,
                  std::string(output.flag) + " " + escaped(output.path) + " is the file of " +
                      other.flag + " and would overwrite it; name another one",
                  output.flag);
    }
    taken.push_back(output);
  }
  return {};
}

// gamma or beta: none without a file, else exactly one element for each column.
Result<std::optional<TensorFile>> read_parameter(const TensorFlags& flags, const std::string& dtype,
                                                 std::int64_t columns) {
  if (flags.path.empty()) {
    if (flags.convert_to.empty()) return std::nullopt;
    return fail(ErrorCode::invalid_argument,
                flags.flag + "-dtype is given, but " + flags.flag + " is not", flags.flag);
  }
  Result<TensorFile> tensor = read_one(flags, dtype);
  if (!tensor) return fail(tensor.error());
  if (tensor->elements() != columns) {
    return fail(ErrorCode::invalid_argument,
                flags.path + ": expected " + std::to_string(columns) +
                    " elements, one for each column of x, not shape " + shape_text(tensor->shape),
                flags.flag);
  }
  return *std::move(tensor);
}

Result<void> read_settings(const RunFlags& flags, RunQuestion& question) {
  const Result<float> epsilon = parse_epsilon(flags.epsilon);
  if (!epsilon) return fail(epsilon.error());
  question.epsilon = *epsilon;
  const auto policy = flags.policy == "fallback" ? v1::POLICY_FALLBACK
                      : flags.policy == "wait"   ? v1::POLICY_WAIT
                      : flags.policy == "fail"   ? v1::POLICY_FAIL
                                                 : v1::POLICY_UNSPECIFIED;
  if (policy == v1::POLICY_UNSPECIFIED) {
    return fail(ErrorCode::invalid_argument,
                "--policy \"" + escaped(flags.policy) + "\": expected fallback, wait or fail",
                "--policy");
  }
  question.policy = policy;
  const auto mode = parse_bucket_mode(flags.bucket_mode);
  if (!mode) {
    return fail(ErrorCode::invalid_argument,
                "--bucket-mode \"" + escaped(flags.bucket_mode) +
                    "\": expected bucketed, single_row_count or batch_invariant",
                "--bucket-mode");
  }
  question.bucket_mode = *mode;
  if (!flags.deadline.empty()) {
    const auto deadline_ms = parse_duration_ms(flags.deadline, "--deadline");
    if (!deadline_ms) return fail(deadline_ms.error());
    question.deadline_ms = *deadline_ms;
  }
  if (!flags.dtype.empty()) {
    const auto dtype = parse_dtype_flag(flags.dtype, "--dtype");
    if (!dtype) return fail(dtype.error());
  }
  return {};
}

Result<void> read_x(const RunFlags& flags, RunQuestion& question) {
  Result<TensorFile> x =
      read_one({.flag = "--x", .path = flags.x, .convert_to = flags.x_dtype}, flags.dtype);
  if (!x) return fail(x.error());
  if (x->shape.empty()) {
    return fail(ErrorCode::invalid_argument,
                flags.x + ": expected at least one axis; the last one is the columns", "--x");
  }
  if (!flags.dtype.empty() && dtype_name(x->dtype) != flags.dtype) {
    return fail(ErrorCode::invalid_argument,
                flags.x + ": holds " + std::string(dtype_name(x->dtype)) + ", not the " +
                    flags.dtype + " of --dtype; --x-dtype " + flags.dtype + " would convert it",
                "--dtype");
  }
  question.columns = x->shape.back();
  question.rows = 1;
  // The product of all axes fits, but with a zero among them a part of it may not.
  for (std::size_t i = 0; i + 1 < x->shape.size(); ++i) {
    if (__builtin_mul_overflow(question.rows, x->shape[i], &question.rows)) {
      return fail(ErrorCode::invalid_argument, flags.x + ": its rows do not fit 63 bits", "--x");
    }
  }
  question.x = *std::move(x);
  question.y_dtype = question.x.dtype;
  if (!flags.y_dtype.empty()) {
    const auto y_dtype = parse_dtype_flag(flags.y_dtype, "--y-dtype");
    if (!y_dtype) return fail(y_dtype.error());
    question.y_dtype = *y_dtype;
  }
  return {};
}

Array array_of(const TensorFile& tensor) {
  return {.dtype = tensor.dtype, .elements = tensor.bytes.data(), .count = tensor.elements()};
}

Problem problem_of(const RunQuestion& question, const RunAnswer& answer) {
  Problem problem{.rows = question.rows, .columns = question.columns};
  problem.x = question.x.dtype;
  problem.y = question.y_dtype;
  if (question.gamma) problem.gamma = question.gamma->dtype;
  if (question.beta) problem.beta = question.beta->dtype;
  problem.stats = make_stats(!answer.mean.empty(), !answer.rstd.empty());
  return problem;
}

}  // namespace

Result<RunQuestion> read_run_question(const RunFlags& flags) {
  RunQuestion question;
  if (Result<void> settings = read_settings(flags, question); !settings) {
    return fail(settings.error());
  }
  if (Result<void> outputs = check_outputs(flags); !outputs) return fail(outputs.error());
  if (Result<void> x = read_x(flags, question); !x) return fail(x.error());
  auto gamma =
      read_parameter({.flag = "--gamma", .path = flags.gamma, .convert_to = flags.gamma_dtype},
                     flags.dtype, question.columns);
  if (!gamma) return fail(gamma.error());
  auto beta = read_parameter({.flag = "--beta", .path = flags.beta, .convert_to = flags.beta_dtype},
                             flags.dtype, question.columns);
  if (!beta) return fail(beta.error());
  question.gamma = *std::move(gamma);
  question.beta = *std::move(beta);
  Problem problem{.rows = question.rows, .columns = question.columns};
  problem.x = question.x.dtype;
  problem.y = question.y_dtype;
  if (Result<void> valid = validate(problem); !valid) {
    Error error = valid.error();
    error.message = flags.x + ": shape " + shape_text(question.x.shape) + ": " + error.message;
    return fail(std::move(error));
  }
  return question;
}

RunCall run_call(const RunQuestion& question, const RunFlags& flags) {
  RunCall call{
      .rows = question.rows,
      .columns = question.columns,
      .x = array_of(question.x),
      .y_dtype = question.y_dtype,
      .want_mean = !flags.mean.empty(),
      .want_rstd = !flags.rstd.empty(),
      .epsilon = question.epsilon,
      .policy = question.policy,
      .bucket_mode = question.bucket_mode,
      .device = flags.device,
      .deadline = std::chrono::milliseconds(question.deadline_ms),
  };
  if (question.gamma) call.gamma = array_of(*question.gamma);
  if (question.beta) call.beta = array_of(*question.beta);
  return call;
}

Comparison compare_answer(const RunQuestion& question, const RunAnswer& answer) {
  const HostTensors tensors{
      .x = question.x.bytes.data(),
      .gamma = question.gamma ? question.gamma->bytes.data() : nullptr,
      .beta = question.beta ? question.beta->bytes.data() : nullptr,
      .x_row_stride = question.columns,
      .epsilon = question.epsilon,
  };
  const HostOutputs outputs{
      .y = answer.y.data(),
      .mean = answer.mean.empty() ? nullptr : answer.mean.data(),
      .rstd = answer.rstd.empty() ? nullptr : answer.rstd.data(),
      .y_row_stride = question.columns,
  };
  return compare(problem_of(question, answer), tensors, outputs, Tolerance{}, 0, question.rows);
}

}  // namespace normd
