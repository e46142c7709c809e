#include "service/cli/problem_flags.h"

#include "service/cli/escape.h"
#include "service/cli/quantity.h"

namespace normd {
namespace {

tl::unexpected<Error> unknown_word(const std::string& flag, const std::string& text,
                                   const std::string& expected) {
  return fail(ErrorCode::invalid_argument,
              flag + " \"" + escaped(text) + "\": expected " + expected, flag);
}

// gamma or beta: there if `affine` says so, of its own dtype or of x's.
Result<std::optional<DType>> parameter(bool present, const std::string& dtype,
                                       const std::string& flag, DType x) {
  if (!present) {
    if (!dtype.empty()) {
      return fail(ErrorCode::invalid_argument, flag + " contradicts --affine", flag);
    }
    return std::nullopt;
  }
  if (dtype.empty()) return x;
  const Result<DType> parsed = parse_dtype_flag(dtype, flag);
  if (!parsed) return fail(parsed.error());
  return *parsed;
}

Result<void> parse_tensors(const ProblemFlags& flags, Problem& problem) {
  const Result<DType> x = parse_dtype_flag(flags.dtype, "--dtype");
  if (!x) return fail(x.error());
  const Result<DType> y = flags.y_dtype.empty() ? x : parse_dtype_flag(flags.y_dtype, "--y-dtype");
  if (!y) return fail(y.error());
  if (flags.affine != "none" && flags.affine != "gamma" && flags.affine != "both") {
    return unknown_word("--affine", flags.affine, "none, gamma or both");
  }
  const auto gamma = parameter(flags.affine != "none", flags.gamma_dtype, "--gamma-dtype", *x);
  if (!gamma) return fail(gamma.error());
  const auto beta = parameter(flags.affine == "both", flags.beta_dtype, "--beta-dtype", *x);
  if (!beta) return fail(beta.error());
  problem.x = *x;
  problem.y = *y;
  problem.gamma = *gamma;
  problem.beta = *beta;
  return {};
}

}  // namespace

Result<DType> parse_dtype_flag(const std::string& text, const std::string& flag) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  return unknown_word(flag, text, "fp32, fp16 or bf16");
}

Result<AskedProblem> parse_problem_flags(const ProblemFlags& flags) {
  AskedProblem asked;
  const Result<Shape> shape = parse_shape(flags.shape);
  if (!shape) return fail(shape.error());
  asked.problem.rows = shape->rows;
  asked.problem.columns = shape->columns;
  if (Result<void> tensors = parse_tensors(flags, asked.problem); !tensors) {
    return fail(tensors.error());
  }
  const auto stats = parse_stats(flags.stats);
  if (!stats) return unknown_word("--stats", flags.stats, "none, mean, rstd or mean_rstd");
  asked.problem.stats = *stats;
  const auto rows_layout = parse_rows_layout(flags.rows_layout);
  if (!rows_layout) {
    return unknown_word("--rows-layout", flags.rows_layout, "contiguous or strided");
  }
  asked.problem.rows_layout = *rows_layout;
  const auto align_bytes =
      parse_integer_in(flags.align_bytes, {.min = 1, .max = 32}, "--align-bytes");
  if (!align_bytes) return fail(align_bytes.error());
  asked.problem.align_bytes = static_cast<int>(*align_bytes);
  const auto mode = parse_bucket_mode(flags.bucket_mode);
  if (!mode) {
    return unknown_word("--bucket-mode", flags.bucket_mode,
                        "bucketed, single_row_count or batch_invariant");
  }
  asked.mode = *mode;
  if (Result<void> valid = validate(asked.problem); !valid) return fail(valid.error());
  return asked;
}

v1::Problem to_message(const Problem& problem) {
  v1::Problem message;
  message.set_op(v1::OP_LAYER_NORM);
  message.set_rows(problem.rows);
  message.set_columns(problem.columns);
  message.set_x_dtype(static_cast<v1::DType>(problem.x));
  message.set_y_dtype(static_cast<v1::DType>(problem.y));
  if (problem.gamma) message.set_gamma_dtype(static_cast<v1::DType>(*problem.gamma));
  if (problem.beta) message.set_beta_dtype(static_cast<v1::DType>(*problem.beta));
  message.set_want_mean(wants_mean(problem.stats));
  message.set_want_rstd(wants_rstd(problem.stats));
  // Any stride beyond the columns asks for the class; twice the columns keeps their alignment.
  if (problem.rows_layout == RowsLayout::strided) message.set_x_row_stride(2 * problem.columns);
  return message;
}

v1::BucketMode to_message(BucketMode mode) {
  return static_cast<v1::BucketMode>(mode);
}

}  // namespace normd
