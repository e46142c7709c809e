#include "kernels/catalog_digest.h"

#include <set>

#include "kernels/catalog.h"
#include "kernels/digest.h"
#include "kernels/source.h"

namespace normd {

std::string catalog_digest(const Key& key, const DeviceSpec& spec) {
  const std::vector<std::int64_t> rows = measured_rows(key.problem, spec, key.bucket);
  return catalog_digest(ranked_candidates(problem_at(key, rows.back()), spec, rows),
                        template_digest);
}

std::string catalog_digest(const std::vector<Candidate>& candidates,
                           const std::function<std::string(std::string_view)>& text_digest) {
  std::set<std::string> templates;
  std::set<std::string> texts;
  for (const Candidate& candidate : candidates) {
    templates.insert(candidate.template_name);
    texts.insert(to_text(candidate));
  }
  std::string all;
  for (const std::string& name : templates) all += name + " " + text_digest(name) + "\n";
  for (const std::string& text : texts) all += text + "\n";
  return sha256_hex(all);
}

}  // namespace normd
