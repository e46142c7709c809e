// RunQuestion: the tensors of `normctl run`, read and fitted to each other, ready to be sent.
// Plain value; any thread.
#pragma once

#include <optional>

#include "kernels/tolerance.h"
#include "service/cli/commands.h"
#include "service/cli/tensor_file.h"
#include "service/client/client.h"

namespace normd {

struct RunQuestion {
  TensorFile x;
  std::optional<TensorFile> gamma;
  std::optional<TensorFile> beta;
  std::int64_t rows = 0;     // the product of all axes but the last
  std::int64_t columns = 0;  // the last axis
  DType y_dtype = DType::fp32;
  float epsilon = 1e-5f;
  v1::Policy policy = v1::POLICY_FALLBACK;
  BucketMode bucket_mode = BucketMode::bucketed;
  std::int64_t deadline_ms = 0;  // 0: the client's own
};

// Reads the files and checks everything that can be known without a daemon. The Error names the
// flag or the file.
Result<RunQuestion> read_run_question(const RunFlags& flags);

// The call views the question's tensors, which must outlive it.
RunCall run_call(const RunQuestion& question, const RunFlags& flags);

// Compares an answer with the float64 reference, all rows.
Comparison compare_answer(const RunQuestion& question, const RunAnswer& answer);

}  // namespace normd
