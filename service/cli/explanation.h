// Explanation: why a problem hits or misses, found from stored keys alone, so that it needs neither
// a GPU nor a daemon. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "service/cli/inspection.h"
#include "service/cli/problem_flags.h"

namespace normd {

// The fields in which a stored key differs from what is asked, as the daemon says it: "rows: 8,
// stored 1..4", "x: bf16, stored fp32". Empty: a hit on the key's device.
std::vector<std::string> differing_fields(const AskedProblem& asked, const Key& key);

struct Explanation {
  std::vector<ListedWinner> hits;  // one for each kind of device that is tuned
  std::string nearest_key;         // without a hit: the key that differs least; empty if none is
  std::vector<std::string> differing_fields;
};
Explanation explain(const AskedProblem& asked, const std::vector<ListedWinner>& winners);

// Empty if a daemon of this version would take the winner, else the sentence that says why it
// would not: the kernel text it was measured with has changed.
std::string stale_because(const v1::Winner& winner);

}  // namespace normd
