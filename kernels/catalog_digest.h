// What the catalog offers for a key, as one digest: it tells whether a tuning of today would have
// other candidates, or other texts, than the one that found a stored winner. It is recorded with a
// winner, not keyed. Pure functions; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/key.h"

namespace normd {

// Of the candidates that a tuning of the key ranks (ranked_candidates) and their templates' texts.
std::string catalog_digest(const Key& key, const DeviceSpec& spec);

// The same of any candidates. Their order is no part of it: it says which are tried first, not
// which there are. A template without a candidate changes nothing.
std::string catalog_digest(const std::vector<Candidate>& candidates,
                           const std::function<std::string(std::string_view)>& text_digest);

}  // namespace normd
