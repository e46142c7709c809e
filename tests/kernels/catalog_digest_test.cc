#include "kernels/catalog_digest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/catalog.h"
#include "kernels/source.h"

namespace normd {
namespace {

const DeviceSpec h200 = *architecture_preset("sm_90");

Key key_of(const Problem& problem) {
  return make_key(problem, h200, make_fingerprint(h200), BucketMode::bucketed);
}

std::vector<Candidate> made_up() {
  return {{"a", {{"threads", 32}}}, {"b", {{"threads", 32}}}, {"b", {{"threads", 64}}}};
}

std::string same_text(std::string_view name) {
  return "text of " + std::string(name);
}

TEST(CatalogDigest, it_is_of_what_a_tuning_of_the_key_would_try) {
  const Key key = key_of({.rows = 1000, .columns = 4096});
  const std::vector<std::int64_t> rows = measured_rows(key.problem, h200, key.bucket);
  const auto candidates = ranked_candidates(problem_at(key, rows.back()), h200, rows);
  EXPECT_EQ(catalog_digest(key, h200), catalog_digest(candidates, template_digest));
  EXPECT_EQ(catalog_digest(key, h200).size(), 64u);
}

TEST(CatalogDigest, the_order_of_the_candidates_does_not_change_it) {
  auto turned = made_up();
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(catalog_digest(turned, same_text), catalog_digest(made_up(), same_text));
}

TEST(CatalogDigest, a_candidate_more_or_another_value_changes_it) {
  const std::string before = catalog_digest(made_up(), same_text);
  auto fewer = made_up();
  fewer.pop_back();
  EXPECT_NE(catalog_digest(fewer, same_text), before);
  auto other = made_up();
  other.back().values.back().second = 128;
  EXPECT_NE(catalog_digest(other, same_text), before);
}

TEST(CatalogDigest, the_text_of_a_template_with_a_candidate_changes_it) {
  const std::string before = catalog_digest(made_up(), same_text);
  const auto changed = [](std::string_view changed_name) {
    return
        [=](std::string_view name) { return same_text(name) + (name == changed_name ? "!" : ""); };
  };
  EXPECT_NE(catalog_digest(made_up(), changed("a")), before);
  EXPECT_NE(catalog_digest(made_up(), changed("b")), before);
  EXPECT_EQ(catalog_digest(made_up(), changed("c")), before) << "it offers nothing here";
}

TEST(CatalogDigest, every_row_count_of_a_bucket_has_the_same_one) {
  const Key key = key_of({.rows = 300, .columns = 4096});
  const Key other = key_of({.rows = 301, .columns = 4096});
  ASSERT_EQ(key, other);
  EXPECT_EQ(catalog_digest(key, h200), catalog_digest(other, h200));
  EXPECT_NE(catalog_digest(key, h200), catalog_digest(key_of({.rows = 300, .columns = 7}), h200));
}

}  // namespace
}  // namespace normd
