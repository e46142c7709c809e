// TuningPlan: which candidates a tuning tries, in which order, and how they are judged. Plain
// value; made once per tuning by the thread that runs it.
#pragma once

#include <vector>

#include "kernels/key.h"
#include "kernels/template.h"
#include "tuner/store/store.h"
#include "tuner/tuner.h"

namespace normd {

struct TuningPlan {
  Grade grade = Grade::exact;
  std::vector<Candidate> candidates;  // in the cost model's rank; the first is the default
  std::vector<int> order;             // their numbers, as they are tried
};

// In rank. invalid_argument: unknown template, or no candidate fits.
Result<TuningPlan> make_tuning_plan(const TuneRequest& request, const Key& key,
                                    const DeviceSpec& spec);

// Orders a plan of all templates by what the store knows of the key (seeded_order.h). A stored
// winner that the catalog offers but would not try any more is added, last in rank: what serves is
// replaced by what beats it in a race, and by nothing else.
void seed(TuningPlan& plan, const Key& key, const DeviceSpec& spec, Store& store);

}  // namespace normd
