#include "kernels/catalog.h"

#include <algorithm>
#include <map>

#include "kernels/check.h"
#include "kernels/cluster_template.h"
#include "kernels/cost_model.h"
#include "kernels/grid_template.h"
#include "kernels/phase_template.h"
#include "kernels/register_templates.h"
#include "kernels/taught_templates.h"
#include "kernels/thread_template.h"

namespace normd {
namespace {

// Whether the axis values are the first, second, ... choice of each axis in turn, like an odometer:
// the last axis moves fastest.
bool advance(std::vector<std::size_t>& positions, const std::vector<Axis>& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++positions[i] < axes[i].values.size()) return true;
    positions[i] = 0;
  }
  return false;
}

tl::unexpected<Error> refuse(const Candidate& candidate, const std::string& why,
                             std::string_view field) {
  return fail(ErrorCode::invalid_argument, "'" + to_text(candidate) + "': " + why,
              std::string(field));
}

// The model tells candidates of one template from each other better than templates. So after its
// first places each template, however low it ranks, has its own best at every other place or so,
// for tunings that end before the last.
std::vector<Candidate> hedged(std::vector<Candidate> ranked) {
  constexpr int first_places = 10;
  constexpr int places_apart = 2;
  std::map<std::string, int> of_template;
  std::vector<std::pair<int, Candidate>> placed;
  for (Candidate& candidate : ranked) {
    const int place = static_cast<int>(placed.size());
    const int own = of_template[candidate.template_name]++;
    placed.emplace_back(std::min(place, first_places + places_apart * own), std::move(candidate));
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> candidates;
  for (auto& [place, candidate] : placed) candidates.push_back(std::move(candidate));
  return candidates;
}

}  // namespace

std::span<const Template> catalog() {
  static const std::vector<Template> table = {
      sub_warp_template(),          block_registers_template(),  block_tiled_template(),
      cluster_registers_template(), cluster_pipeline_template(), grid_pipeline_template(),
      phase_aligned_template(),     thread_rows_template(),      thread_three_pass_template(),
      thread_welford_template(),    warp_welford_template(),     block_shared_template(),
      block_two_pass_template(),    tiled_welford_template()};
  return table;
}

const Template* find_template(std::string_view name) {
  for (const Template& entry : catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

const Template& template_of(const Candidate& candidate) {
  const Template* entry = find_template(candidate.template_name);
  NORMD_CHECK(entry != nullptr);
  return *entry;
}

std::vector<Candidate> enumerate(const Template& entry, const Problem& problem,
                                 const DeviceSpec& spec) {
  const std::vector<Axis> axes = entry.axes(problem, spec);
  std::vector<Candidate> candidates;
  for (const Axis& axis : axes) {
    if (axis.values.empty()) return candidates;
  }
  std::vector<std::size_t> positions(axes.size(), 0);
  do {
    Candidate candidate{.template_name = std::string(entry.name), .values = {}};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      candidate.values.emplace_back(std::string(axes[i].name), axes[i].values[positions[i]]);
    }
    if (entry.fits(candidate, problem, spec)) candidates.push_back(std::move(candidate));
  } while (advance(positions, axes));
  return candidates;
}

std::vector<Candidate> all_ranked_candidates(const Problem& problem, const DeviceSpec& spec) {
  std::vector<std::pair<double, Candidate>> ranked;
  for (const Template& entry : catalog()) {
    if (entry.grade != Grade::exact) continue;
    for (Candidate& candidate : enumerate(entry, problem, spec)) {
      const double ns = estimated_ns(candidate, problem, spec);
      ranked.emplace_back(ns, std::move(candidate));
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> candidates;
  candidates.reserve(ranked.size());
  for (auto& [ns, candidate] : ranked) candidates.push_back(std::move(candidate));
  return candidates;
}

std::vector<Candidate> ranked_candidates(const Problem& problem, const DeviceSpec& spec,
                                         const std::vector<std::int64_t>& rows) {
  std::vector<Candidate> candidates = all_ranked_candidates(problem, spec);
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return std::none_of(rows.begin(), rows.end(), [&](std::int64_t count) {
      Problem of_rows = problem;
      of_rows.rows = count;
      return template_of(candidate).pays(candidate, of_rows, spec);
    });
  });
  return hedged(std::move(candidates));
}

std::vector<Candidate> ranked_candidates(const Problem& problem, const DeviceSpec& spec) {
  return ranked_candidates(problem, spec, {problem.rows});
}

Result<void> validate(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const Template* entry = find_template(candidate.template_name);
  if (entry == nullptr) {
    return refuse(candidate, "there is no template " + candidate.template_name, "template");
  }
  const std::vector<Axis> axes = entry->axes(problem, spec);
  if (axes.size() != candidate.values.size()) {
    return refuse(candidate, "the template has " + std::to_string(axes.size()) + " axes", "axes");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, value] = candidate.values[i];
    if (name != axes[i].name) {
      return refuse(candidate,
                    "axis " + std::to_string(i + 1) + " is called " + std::string(axes[i].name),
                    name);
    }
    if (std::find(axes[i].values.begin(), axes[i].values.end(), value) == axes[i].values.end()) {
      return refuse(candidate,
                    name + " cannot be " + std::to_string(value) + " for " + to_text(problem),
                    name);
    }
  }
  if (!entry->fits(candidate, problem, spec)) {
    return refuse(candidate, "does not fit " + to_text(problem) + " on " + spec.name, "template");
  }
  return {};
}

Launch launch_of(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  Launch launch = template_of(candidate).launch(candidate, problem, spec);
  // Blocks of a cooperative launch are all resident at once, or none is.
  launch.programmatic =
      spec.kind == DeviceKind::cuda && spec.capability >= 90 && !launch.cooperative;
  return launch;
}

// 256 threads: a warp per narrow row, a block per wide one. The scratch holds a double and four
// floats per warp.
Launch any_columns_launch() {
  return {.entries = {"normd_any_columns"}, .block = 256, .shared_bytes = 192};
}

// Each block writes one record, so their number is bounded; the blocks stride over the rows. Shared
// memory holds a record per thread and a double per warp.
Launch check_rows_launch() {
  return {.entries = {"normd_check_rows"},
          .block = 256,
          .shared_bytes = 256 * 80 + 8 * 8,
          .blocks_max = 1024};
}

// Each block writes the lowest difference that it found.
Launch compare_bytes_launch() {
  return {.entries = {"normd_compare_bytes"},
          .block = 256,
          .shared_bytes = 256 * 8,
          .blocks_max = 1024};
}

}  // namespace normd
