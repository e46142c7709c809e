// TrialFile: what every candidate of some shapes took on one device, as a text that is kept in the
// repository: a line for the device, then one per trial. Plain values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/problem.h"

namespace normd {

struct MeasuredTrial {
  Problem problem;  // x, y, gamma and beta of one dtype
  Candidate candidate;
  double median_ns = 0;
  double copy_ns = 0;  // of a plain copy of the same bytes, beside it
};

struct TrialFile {
  DeviceSpec spec;
  std::vector<MeasuredTrial> trials;
  int outdated = 0;  // lines of candidates that today's catalog no longer has; left out
};

std::string device_line(const DeviceSpec& spec);
std::string trial_line(const MeasuredTrial& trial);

// The Error names `name` and the line.
Result<TrialFile> parse_trial_file(std::string_view text, std::string_view name);

}  // namespace normd
