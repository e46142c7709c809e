#include "tuner/tuned_with.h"

namespace normd {
namespace {

std::string shown(const std::string& digest) {
  return digest.empty() ? "unknown" : digest.substr(0, 8);
}

}  // namespace

std::string changes_since(const Winner& winner, const TunedWith& now) {
  std::string changes;
  const auto add = [&](const std::string& change) {
    if (!changes.empty()) changes += "; ";
    changes += change;
  };
  if (winner.driver != now.driver) add("driver '" + winner.driver + "' -> '" + now.driver + "'");
  if (winner.compiler != now.compiler) {
    add("compiler '" + winner.compiler + "' -> '" + now.compiler + "'");
  }
  if (winner.catalog_digest.empty() || winner.catalog_digest != now.catalog_digest) {
    add("catalog " + shown(winner.catalog_digest) + " -> " + shown(now.catalog_digest));
  }
  return changes;
}

}  // namespace normd
