// ProblemFlags: a problem as it is typed on the command line, and what it means. Pure functions.
#pragma once

#include <string>

#include "kernels/error.h"
#include "kernels/problem.h"
#include "kernels/row_bucket.h"
#include "normd/v1/normd.pb.h"

namespace normd {

// Texts as typed; empty where the flag has a default that depends on another.
struct ProblemFlags {
  std::string shape;  // ROWSxCOLUMNS
  std::string dtype;
  std::string y_dtype;
  std::string affine = "both";
  std::string gamma_dtype;
  std::string beta_dtype;
  std::string stats = "none";
  std::string rows_layout = "contiguous";
  std::string align_bytes = "16";
  std::string bucket_mode = "bucketed";
};

struct AskedProblem {
  Problem problem;
  BucketMode mode = BucketMode::bucketed;
};

// The Error names the flag, or the position in ROWSxCOLUMNS.
Result<AskedProblem> parse_problem_flags(const ProblemFlags& flags);

Result<DType> parse_dtype_flag(const std::string& text, const std::string& flag);

v1::Problem to_message(const Problem& problem);
v1::BucketMode to_message(BucketMode mode);

}  // namespace normd
