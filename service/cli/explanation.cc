#include "service/cli/explanation.h"

#include <cmath>
#include <utility>

#include "kernels/candidate.h"
#include "kernels/catalog.h"
#include "kernels/source.h"

namespace normd {

std::vector<std::string> differing_fields(const AskedProblem& asked, const Key& key) {
  const Problem& a = asked.problem;
  const Problem& b = key.problem;
  std::vector<std::string> fields;
  if (!key.bucket.contains(a.rows)) fields.emplace_back("rows");
  if (a.columns != b.columns) fields.emplace_back("columns");
  if (a.x != b.x) fields.emplace_back("x");
  if (a.y != b.y) fields.emplace_back("y");
  if (a.gamma != b.gamma) fields.emplace_back("gamma");
  if (a.beta != b.beta) fields.emplace_back("beta");
  if (a.stats != b.stats) fields.emplace_back("stats");
  if (a.rows_layout != b.rows_layout) fields.emplace_back("rows_layout");
  if (a.align_bytes != b.align_bytes) fields.emplace_back("align_bytes");
  if (asked.mode != key.mode) fields.emplace_back("bucket_mode");
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
