#include "service/daemon/nearest_key.h"

#include "kernels/text.h"

namespace normd {
namespace {

constexpr int page_size = 500;

}  // namespace

std::vector<std::string> differing_fields(std::string_view asked, std::string_view stored) {
  const auto asked_words = split(asked, ' ');
  const auto stored_words = split(stored, ' ');
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < std::min(asked_words.size(), stored_words.size()); ++i) {
    const std::string_view ours = asked_words[i];
    const std::string_view theirs = stored_words[i];
    if (ours == theirs) continue;
    const std::size_t equals = ours.find('=');
    if (equals == std::string_view::npos) {  // "cuda" and "host" have no name of their own
      fields.push_back("kind: " + std::string(ours) + ", stored " + std::string(theirs));
    } else {
      fields.push_back(std::string(ours.substr(0, equals)) + ": " +
                       std::string(ours.substr(equals + 1)) + ", stored " +
                       std::string(theirs.substr(theirs.find('=') + 1)));
    }
  }
  return fields;
}

Result<NearestKey> find_nearest_key(Store& store, const Key& key) {
  const std::string asked = to_text(key);
  NearestKey nearest;
  WinnerQuery query{.limit = page_size};
  while (true) {
    const auto page = store.list_winners(query);
    if (!page) return fail(page.error());
    for (const Winner& winner : *page) {
      const std::string stored = to_text(winner.key);
      auto fields = differing_fields(asked, stored);
      if (nearest.key.empty() || fields.size() < nearest.differing_fields.size()) {
        nearest = {stored, std::move(fields)};
      }
    }
    if (static_cast<int>(page->size()) < query.limit) return nearest;
    query.after = to_text(page->back().key);
  }
}

}  // namespace normd
