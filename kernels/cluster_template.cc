#include "kernels/cluster_template.h"

#include <algorithm>

#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int vector_bytes = 16;
constexpr int cluster_choices[] = {1, 2, 4, 8, 16};
constexpr int rows_per_block_choices[] = {1, 2, 3, 4, 5, 6};
constexpr int blocks_per_sm_choices[] = {1, 2, 3, 4};
constexpr int packs_choices[] = {4, 8};  // that a thread holds at the most

// Narrower parts spend their time in barriers, wider ones leave no room for the next row.
constexpr std::int64_t part_bytes_min = 2048;
constexpr std::int64_t part_bytes_max = 65536;

// Below, a block holds a whole row well.
constexpr std::int64_t row_bytes_min = 4096;

// A cluster of blocks, as one candidate divides a row among them.
struct Division {
  int cluster;
  int rows_per_block;
  int threads;
  int blocks_per_sm;
  std::int64_t part_columns;
  std::int64_t part_bytes;  // of x
  std::int64_t affine_bytes;

  int group_threads() const { return threads / rows_per_block; }
};

std::int64_t bytes_of(std::int64_t columns, const std::optional<DType>& dtype) {
  return dtype ? columns * static_cast<std::int64_t>(size_bytes(*dtype)) : 0;
}

Division division(const Candidate& candidate, const Problem& problem) {
  const int cluster = candidate.value("cluster");
  const std::int64_t part_columns = problem.columns / cluster;
  return {
      .cluster = cluster,
      .rows_per_block = candidate.value("rows_per_block"),
      .threads = candidate.value("threads"),
      .blocks_per_sm = candidate.value("blocks_per_sm"),
      .part_columns = part_columns,
      .part_bytes = bytes_of(part_columns, problem.x),
      .affine_bytes = bytes_of(part_columns, problem.gamma) + bytes_of(part_columns, problem.beta)};
}

// As cluster_pipeline.cuh lays it out; the text asserts that both agree.
std::int64_t shared_bytes_of(const Division& of) {
  const int sums = std::max(4, row_scratch_floats(of.group_threads() / 32));
  const int area_bytes = 2 * 16 * of.cluster + 4 * sums + 32;
  return of.affine_bytes + of.rows_per_block * (of.part_bytes + area_bytes) + 16;
}

// Bulk copies take whole multiples of 16 bytes, of x, gamma and beta alike.
bool divides(const Problem& problem, int cluster) {
  const auto whole = [&](const std::optional<DType>& dtype) {
    return bytes_of(problem.columns, dtype) % (std::int64_t{16} * cluster) == 0;
  };
  const std::int64_t part_bytes = bytes_of(problem.columns, problem.x) / cluster;
  return whole(problem.x) && whole(problem.gamma) && whole(problem.beta) &&
         part_bytes >= part_bytes_min && part_bytes <= part_bytes_max;
}

// Clusters and bulk copies begin with sm_90; the host device plays any chip that has them.
int cluster_max(const DeviceSpec& spec) {
  if (spec.capability == 0 && spec.kind == DeviceKind::host) return 4;
  if (spec.capability < 90) return 0;
  return spec.capability >= 120 ? 8 : 16;
}

// Threads of a group so that each holds at most one of packs_choices.
std::vector<int> group_threads_choices(const Problem& problem, int cluster) {
  const std::int64_t part_packs = bytes_of(problem.columns, problem.x) / cluster / vector_bytes;
  std::vector<int> choices;
  for (const int packs : packs_choices) {
    const std::int64_t threads = ((part_packs + packs - 1) / packs + 31) / 32 * 32;
    if (threads <= 512) choices.push_back(static_cast<int>(threads));
  }
  return choices;
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  std::vector<int> clusters;
  std::vector<int> threads;
  if (bytes_of(problem.columns, problem.x) >= row_bytes_min && row_align_bytes(problem) >= 16) {
    for (const int cluster : cluster_choices) {
      if (cluster > cluster_max(spec) || !divides(problem, cluster)) continue;
      clusters.push_back(cluster);
      for (const int group : group_threads_choices(problem, cluster)) {
        for (const int rows : rows_per_block_choices) {
          if (group * rows <= spec.threads_per_block_max) threads.push_back(group * rows);
        }
      }
    }
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return {
      {"cluster", clusters},
      {"rows_per_block", {std::begin(rows_per_block_choices), std::end(rows_per_block_choices)}},
      {"threads", threads},
      {"vector_bytes", {vector_bytes}},
      {"blocks_per_sm", {std::begin(blocks_per_sm_choices), std::end(blocks_per_sm_choices)}}};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const Division of = division(candidate, problem);
  if (of.cluster > cluster_max(spec) || !divides(problem, of.cluster)) return false;
  if (of.threads % (32 * of.rows_per_block) != 0) return false;
  const std::vector<int> groups = group_threads_choices(problem, of.cluster);
  if (std::find(groups.begin(), groups.end(), of.group_threads()) == groups.end()) return false;
  const std::int64_t shared_bytes = shared_bytes_of(of);
  if (shared_bytes > spec.shared_bytes_per_block_max) return false;
  if (!shared_memory_holds(of.blocks_per_sm, shared_bytes, spec)) return false;
  // Many threads have too few registers to hold x and work on it.
  const int threads_per_sm = of.threads * of.blocks_per_sm;
  if (threads_per_sm > 1024) return false;
  const SliceShape shape = slice_shape(problem, vector_bytes, of.group_threads() * of.cluster);
  if (shape.x_registers + working_registers > registers_max(threads_per_sm, spec)) return false;
  // One row at a time is for few rows, of which each has many blocks.
  if (of.rows_per_block * of.blocks_per_sm == 1) return true;
  // Else few threads cannot keep up, and what is on its way into a multiprocessor must cover the
  // latency of memory.
  return threads_per_sm >= 256 &&
         10 * of.blocks_per_sm * of.rows_per_block * of.part_bytes >= spec.shared_bytes_per_sm;
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const Division of = division(candidate, problem);
  const std::int64_t blocks_max = std::int64_t{of.blocks_per_sm} * spec.sm_count;
  return {.entries = {"normd_kernel"},
          .block = of.threads,
          .cluster = of.cluster,
          .shared_bytes = static_cast<int>(shared_bytes_of(of)),
          .rows_per_block = of.rows_per_block,
          .blocks_per_row = of.cluster,
          .resident = true,
          .blocks_max = std::max<std::int64_t>(blocks_max, of.cluster)};
}

// Cycles of one row: three reductions of a group, the exchange between blocks, and what a thread
// does for its elements while the other groups want the same pipelines.
constexpr double reduction_cycles = 330;
constexpr double exchange_cycles = 900;
constexpr double element_cycles = 14;

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const Division of = division(candidate, problem);
  const SliceShape shape = slice_shape(problem, vector_bytes, of.group_threads() * of.cluster);
  const double warps_per_scheduler = of.threads * of.blocks_per_sm / 128.0;
  return {.registers = 65536 / (of.threads * of.blocks_per_sm) / 8 * 8,
          .bytes_in_flight = static_cast<double>(of.rows_per_block * of.part_bytes),
          .chain_cycles = 3 * reduction_cycles + (of.cluster > 1 ? exchange_cycles : 0) +
                          element_cycles * static_cast<double>(shape.elements()) *
                              std::max(1.0, warps_per_scheduler / 2),
          .memory_trips = 0.5,
          .element_instructions = 12,
          .independent = of.rows_per_block + 1.0};
}

}  // namespace

Template cluster_pipeline_template() {
  return {.name = "cluster_pipeline",
          .summary = "1 to 16 blocks own a row, the next one on its way by bulk copy; wide rows",
          .text = kernel_text("cluster_pipeline.cuh"),
          .grade = Grade::exact,
          .axes = axes,
          .fits = fits,
          .launch = launch,
          .plan = plan,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
