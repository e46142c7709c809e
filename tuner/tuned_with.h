// TunedWith: what a winner was found with that its key does not hold: it may serve under another
// driver, compiler or catalog, but perhaps another candidate would win there. Plain value and pure
// functions; any thread.
#pragma once

#include <string>

#include "tuner/trial.h"

namespace normd {

struct TunedWith {
  std::string driver;
  std::string compiler;
  std::string catalog_digest;  // of the key in question; empty: not known
};

// `driver '13.0' -> '13.1'; catalog 01234567 -> 89abcdef`: what is not now as it was when the
// winner was tuned. Empty: nothing. What was not known then differs.
std::string changes_since(const Winner& winner, const TunedWith& now);

}  // namespace normd
