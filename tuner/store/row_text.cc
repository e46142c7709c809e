#include "tuner/store/row_text.h"

#include <algorithm>
#include <limits>

#include "kernels/text.h"

namespace normd {
namespace {

template <typename Entry>
std::string lines_of(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (!text.empty()) text += '\n';
    text += to_text(entry);
  }
  return text;
}

template <typename Entry>
std::optional<std::vector<Entry>> entries_of(std::string_view text,
                                             Result<Entry> (*parse)(std::string_view)) {
  std::vector<Entry> entries;
  if (text.empty()) return entries;
  for (const std::string_view line : split(text, '\n')) {
    Result<Entry> entry = parse(line);
    if (!entry) return std::nullopt;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace

std::string measurements_text(const std::vector<Measurement>& measurements) {
  return lines_of(measurements);
}

std::optional<std::vector<Measurement>> parse_measurements(std::string_view text) {
  return entries_of<Measurement>(text, parse_measurement);
}

std::string candidates_text(const std::vector<Candidate>& candidates) {
  return lines_of(candidates);
}

std::optional<std::vector<Candidate>> parse_candidates(std::string_view text) {
  return entries_of<Candidate>(text, parse_candidate);
}

double sorting_median_ns(const std::vector<Measurement>& measurements) {
  // The most rows; of both states of the cache the one that decides, which comes last.
  const auto at =
      std::max_element(measurements.rbegin(), measurements.rend(),
                       [](const Measurement& a, const Measurement& b) { return a.rows < b.rows; });
  if (at == measurements.rend()) return 0;
  // NaN is no value for SQL; a time that is none sorts last.
  return at->median_ns >= 0 ? at->median_ns : std::numeric_limits<double>::infinity();
}

}  // namespace normd
