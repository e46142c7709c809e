// The catalog: every template, in one table, and the enumeration of candidates from it.
// Constant data and pure functions; any thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/template.h"

namespace normd {

std::span<const Template> catalog();

const Template* find_template(std::string_view name);  // null if there is none

// The template of a candidate that was enumerated or passed validate(); checked.
const Template& template_of(const Candidate& candidate);

// Every candidate of one template that fits, in axis order.
std::vector<Candidate> enumerate(const Template& entry, const Problem& problem,
                                 const DeviceSpec& spec);

// The candidates of grade `exact` that pay (template.h) for some of these row counts, ranked by the
// cost model (cost_model.h) for problem.rows: the first is the Default. After the first ten,
// templates that rank low alternate with those that do not.
std::vector<Candidate> ranked_candidates(const Problem& problem, const DeviceSpec& spec,
                                         const std::vector<std::int64_t>& rows);
// For problem.rows alone.
std::vector<Candidate> ranked_candidates(const Problem& problem, const DeviceSpec& spec);
// All of grade `exact`, ranked likewise.
std::vector<Candidate> all_ranked_candidates(const Problem& problem, const DeviceSpec& spec);

// Whether a candidate that was stored or typed is one that enumerate() would give: the template
// exists, has exactly these axes with these values, and fits. The Error says what does not hold.
Result<void> validate(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);

Launch launch_of(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);

// Three kernels are no catalog rows, because their columns and dtypes are run-time arguments and
// they are compiled when the project is built: the fallback (any_columns) and what the gate judges
// with, the checker (check_rows) and the comparer (compare_bytes), whose rows are stretches of
// compare_steps steps.
Launch any_columns_launch();
Launch check_rows_launch();
Launch compare_bytes_launch();

}  // namespace normd
