#include "tuner/tuning_plan.h"

#include <algorithm>
#include <numeric>

#include "kernels/catalog.h"
#include "tuner/seeded_order.h"
#include "tuner/usable_winner.h"

namespace normd {
Result<TuningPlan> make_tuning_plan(const TuneRequest& request, const Key& key,
                                    const DeviceSpec& spec) {
  const std::vector<std::int64_t> rows = measured_rows(key.problem, spec, key.bucket);
  const Problem problem = problem_at(key, rows.back());
  const bool of_all = request.template_name.empty();
  TuningPlan plan;
  if (of_all) {
    plan.candidates = request.everything ? all_ranked_candidates(problem, spec)
                                         : ranked_candidates(problem, spec, rows);
  } else {
    const Template* entry = find_template(request.template_name);
    if (entry == nullptr) {
      return fail(ErrorCode::invalid_argument,
                  "there is no template '" + request.template_name + "'", "template_name");
    }
    plan.grade = entry->grade;
    plan.candidates = enumerate(*entry, problem, spec);
  }
  if (plan.candidates.empty()) {
    return fail(ErrorCode::invalid_argument, "no candidate fits " + to_text(key),
                of_all ? "problem" : "template_name");
  }
  const auto most = static_cast<std::size_t>(request.candidates_max);
  if (most > 0 && plan.candidates.size() > most) plan.candidates.resize(most);
  plan.order.resize(plan.candidates.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  return plan;
}

void seed(TuningPlan& plan, const Key& key, const DeviceSpec& spec, Store& store) {
  const auto stored = store.peek_winner(key);
  if (!stored || !*stored) return;
  const Winner& winner = **stored;
  const bool listed = std::find(plan.candidates.begin(), plan.candidates.end(), winner.candidate) !=
                      plan.candidates.end();
  if (!listed && is_offered(winner.candidate, key, spec)) {
    plan.candidates.push_back(winner.candidate);
  }
  plan.order = seeded_order(plan.candidates, winner, find_usable_trials(store, key, spec));
}

}  // namespace normd
