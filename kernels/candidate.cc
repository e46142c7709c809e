#include "kernels/candidate.h"

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {

int Candidate::value(std::string_view axis) const {
  for (const auto& [name, value] : values) {
    if (name == axis) return value;
  }
  NORMD_CHECK(!"the candidate has no such axis");
}

std::string to_text(const Candidate& candidate) {
  std::string text = candidate.template_name;
  for (const auto& [name, value] : candidate.values) {
    text.append(" ").append(name).append("=").append(std::to_string(value));
  }
  return text;
}

Result<Candidate> parse_candidate(std::string_view text) {
  FieldReader reader(text);
  Candidate candidate{.template_name = std::string(reader.word()), .values = {}};
  for (const auto& [name, value] : reader.rest()) {
    const auto parsed = parse_integer(value);
    if (!parsed || *parsed < 0 || *parsed > (1 << 30)) reader.reject(name, "a small integer");
    candidate.values.emplace_back(std::string(name), static_cast<int>(parsed.value_or(0)));
  }
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  return candidate;
}

}  // namespace normd
