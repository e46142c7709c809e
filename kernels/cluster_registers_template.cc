#include <algorithm>

#include "kernels/cluster_template.h"
#include "kernels/part_shape.h"
#include "kernels/register_costs.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int cluster_choices[] = {2, 4, 8, 16};
constexpr int threads_choices[] = {64, 128, 256};

// Narrower rows are done before a cluster has begun.
constexpr std::int64_t row_bytes_min = 4096;

// A lane of each warp reads one part's message.
constexpr int parts_max = 32;
constexpr std::int64_t packs_max = 16;  // of a lane

int parts_of(const Candidate& candidate) {
  return candidate.value("cluster") * candidate.value("threads") / 32;
}

SliceShape lane_shape(const Candidate& candidate, const Problem& problem) {
  return slice_shape(problem, part_vector_bytes, 32 * parts_of(candidate));
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  std::vector<int> clusters;
  if (row_align_bytes(problem) >= part_vector_bytes && row_bytes(problem) >= row_bytes_min) {
    for (const int cluster : cluster_choices) {
      if (cluster <= cluster_max(spec)) clusters.push_back(cluster);
    }
  }
  return {{"cluster", clusters},
          {"threads", {std::begin(threads_choices), std::end(threads_choices)}},
          {"vector_bytes", {part_vector_bytes}}};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int cluster = candidate.value("cluster");
  const int parts = parts_of(candidate);
  if (cluster > cluster_max(spec) || parts > parts_max) return false;
  // Every lane has as many packs.
  const SliceShape shape = lane_shape(candidate, problem);
  if (problem.columns % (std::int64_t{32} * parts * shape.pack) != 0) return false;
  return shape.packs <= packs_max &&
         shape.x_registers + working_registers <= registers_max(candidate.value("threads"), spec);
}

Launch launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  const int cluster = candidate.value("cluster");
  return {.entries = {"normd_kernel"},
          .block = candidate.value("threads"),
          .cluster = cluster,
          .shared_bytes = static_cast<int>(message_bytes(parts_of(candidate), 1)),
          .blocks_per_row = cluster,
          .strides = false};
}

constexpr double exchange_cycles = 900;
// From one block's end on a multiprocessor to the next one's beginning: all of its cluster's must.
constexpr double cluster_start_cycles = 575;

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const SliceShape shape = lane_shape(candidate, problem);
  const int threads = candidate.value("threads");
  const double blocks_of_each =
      static_cast<double>(problem.rows * candidate.value("cluster")) / std::max(1, spec.sm_count);
  return {.registers = static_cast<int>(
              std::min<std::int64_t>(255, shape.x_registers + shape.affine_registers + 40)),
          .bytes_in_flight = static_cast<double>(shape.packs) * part_vector_bytes * threads,
          .chain_cycles = 5 * shuffle_cycles + exchange_cycles +
                          cluster_start_cycles * std::max(0.0, blocks_of_each - 1) +
                          element_cycles * static_cast<double>(shape.elements()) *
                              std::max(1.0, threads / 128.0),
          .memory_trips = 1.0,
          .element_instructions = element_instructions(shape.pack)};
}

}  // namespace

Template cluster_registers_template() {
  return {.name = "cluster_registers",
          .summary = "the warps of 2 to 16 blocks own a row, held in registers; few wide rows",
          .text = kernel_text("cluster_registers.cuh"),
          .grade = Grade::exact,
          .axes = axes,
          .fits = fits,
          .launch = launch,
          .plan = plan,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
