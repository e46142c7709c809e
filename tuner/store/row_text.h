// Lists as they are kept in one column: one canonical text a line. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/trial.h"

namespace normd {

std::string measurements_text(const std::vector<Measurement>& measurements);
std::optional<std::vector<Measurement>> parse_measurements(std::string_view text);
std::string candidates_text(const std::vector<Candidate>& candidates);
std::optional<std::vector<Candidate>> parse_candidates(std::string_view text);

// What listings sort by: the median at the most rows, of cold buffers if those were measured.
double sorting_median_ns(const std::vector<Measurement>& measurements);

}  // namespace normd
