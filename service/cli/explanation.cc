#include "service/cli/explanation.h"

#include <cmath>
#include <utility>

#include "kernels/candidate.h"
#include "kernels/catalog.h"
#include "kernels/source.h"

namespace normd {

namespace {

std::string word(DType dtype) {
  return std::string(dtype_name(dtype));
}
std::string word(const std::optional<DType>& dtype) {
  return dtype ? word(*dtype) : "none";
}
std::string word(Stats stats) {
  return std::string(stats_name(stats));
}
std::string word(RowsLayout layout) {
  return std::string(rows_layout_name(layout));
}
std::string word(BucketMode mode) {
  return std::string(bucket_mode_name(mode));
}
std::string word(std::int64_t number) {
  return std::to_string(number);
}

}  // namespace

std::vector<std::string> differing_fields(const AskedProblem& asked, const Key& key) {
  const Problem& a = asked.problem;
  const Problem& b = key.problem;
  std::vector<std::string> fields;
  const auto differ = [&](const char* name, const std::string& wanted, const std::string& stored) {
    if (wanted != stored) fields.push_back(name + (": " + wanted) + ", stored " + stored);
  };
  if (!key.bucket.contains(a.rows)) differ("rows", word(a.rows), to_text(key.bucket));
  differ("columns", word(a.columns), word(b.columns));
  differ("x", word(a.x), word(b.x));
  differ("y", word(a.y), word(b.y));
  differ("gamma", word(a.gamma), word(b.gamma));
  differ("beta", word(a.beta), word(b.beta));
  differ("stats", word(a.stats), word(b.stats));
  differ("rows_layout", word(a.rows_layout), word(b.rows_layout));
  differ("align_bytes", word(a.align_bytes), word(b.align_bytes));
  differ("mode", word(asked.mode), word(key.mode));
  return fields;
}

Explanation explain(const AskedProblem& asked, const std::vector<ListedWinner>& winners) {
  Explanation explanation;
  // Fewest fields first; among those the nearest width.
  std::pair<std::size_t, double> nearest = {~std::size_t{0}, 0};
  for (const ListedWinner& listed : winners) {
    const Result<Key> key = parse_key(listed.winner.key());
    if (!key) continue;
    std::vector<std::string> fields = differing_fields(asked, *key);
    if (fields.empty()) {
      explanation.hits.push_back(listed);
      continue;
    }
    const std::pair distance = {fields.size(),
                                std::abs(std::log2(static_cast<double>(key->problem.columns)) -
                                         std::log2(static_cast<double>(asked.problem.columns)))};
    if (distance < nearest) {
      nearest = distance;
      explanation.nearest_key = listed.winner.key();
      explanation.differing_fields = std::move(fields);
    }
  }
  if (!explanation.hits.empty()) {
    explanation.nearest_key.clear();
    explanation.differing_fields.clear();
  }
  return explanation;
}

std::string stale_because(const v1::Winner& winner) {
  const Result<Candidate> candidate = parse_candidate(winner.candidate());
  if (!candidate) return "this version cannot read its candidate: " + candidate.error().message;
  if (find_template(candidate->template_name) == nullptr) {
    return "this version has no template " + candidate->template_name;
  }
  if (template_digest(candidate->template_name) != winner.template_digest()) {
    return "the text of template " + candidate->template_name +
           " has changed since it was measured, so it counts as a miss";
  }
  return "";
}

}  // namespace normd
