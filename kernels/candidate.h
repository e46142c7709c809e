// Candidate: a template's name and one value per axis, always valid for the problem and device it
// was enumerated for. Winners are stored in this form. Plain value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.h"

namespace normd {

// One tunable of a template: its name, unit last, and the values it may take, in ascending order.
struct Axis {
  std::string_view name;
  std::vector<int> values;
};

struct Candidate {
  std::string template_name;
  std::vector<std::pair<std::string, int>> values;  // in the order of the template's axes

  bool operator==(const Candidate&) const = default;
  int value(std::string_view axis) const;  // checked: the axis must be there
};

std::string to_text(const Candidate& candidate);  // block_registers threads=256 vector_bytes=16
Result<Candidate> parse_candidate(std::string_view text);  // of any template; see catalog.h

}  // namespace normd
