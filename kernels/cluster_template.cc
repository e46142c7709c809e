#include "kernels/cluster_template.h"

#include <algorithm>
#include <array>

#include "kernels/cache_hints.h"
#include "kernels/part_shape.h"
#include "kernels/row_tickets.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int cluster_choices[] = {1, 2, 4, 8, 16};
constexpr int rows_per_block_choices[] = {1, 2, 3, 4, 5, 6, 8};
constexpr int blocks_per_sm_choices[] = {1, 2, 4, 6};  // three are as good as two or four
constexpr int blocks_per_sm_max = 4;                   // of wide rows
constexpr std::array packs_choices = {4, 8, 10};       // that a thread holds at the most
constexpr int group_threads_max = 512;

// Narrower parts spend their time in barriers, wider ones leave no room for the next row.
constexpr std::int64_t part_bytes_min = 2048;
constexpr std::int64_t part_bytes_max = 65536;

// Below, a block holds a whole row well.
constexpr std::int64_t wide_row_bytes = 4096;

// Narrow rows, a warp or a few each, pay where x and y take most of the L2 cache and find room
// there: 12608x384 fp32 (0.6 of it) is 9 % faster on an H200, 16384x384 (0.8) 2 %, what takes 0.4
// no faster. Wider than a factor of two, so that each bucket of rows in there has an edge in there.
constexpr std::int64_t row_bytes_min = 1024;
constexpr double narrow_caches_min = 0.45;
constexpr double narrow_caches_max = 0.95;
constexpr int narrow_rows_per_block_min = 4;
constexpr int narrow_blocks_per_sm_min = 4;
constexpr int narrow_threads_per_sm_max = 1280;

bool is_narrow(const Problem& problem) {
  return row_bytes(problem) < wide_row_bytes;
}

PartShape shape_of(const Candidate& candidate, const Problem& problem) {
  const int cluster = candidate.value("cluster");
  return part_shape(candidate, problem, cluster, problem.columns / cluster,
                    candidate.value("affine_held") != 0);
}

// Bulk copies take whole multiples of 16 bytes, of x, gamma and beta alike.
bool divides(const Problem& problem, int cluster) {
  const std::int64_t part_bytes = row_bytes(problem) / cluster;
  if (problem.columns % (columns_of_bytes(problem, 16) * cluster) != 0) return false;
  if (is_narrow(problem)) return cluster == 1;
  return part_bytes >= part_bytes_min && part_bytes <= part_bytes_max;
}

std::vector<int> group_choices(const Problem& problem, int cluster) {
  std::vector<int> choices = group_threads_choices(row_bytes(problem) / cluster,
                                                   {packs_choices.begin(), packs_choices.end()});
  std::erase_if(choices, [](int threads) { return threads > group_threads_max; });
  return choices;
}

// Elements of 16 bits become floats when they are used, in registers beside those that hold them.
Axis affine_held_axis(const Problem& problem) {
  const auto narrow = [](const std::optional<DType>& dtype) {
    return dtype && size_bytes(*dtype) < sizeof(float);
  };
  const bool none = !problem.gamma && !problem.beta;
  if (none || narrow(problem.x) || narrow(problem.gamma) || narrow(problem.beta)) {
    return {"affine_held", {0}};
  }
  return {"affine_held", {0, 1}};
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  std::vector<int> clusters;
  std::vector<int> threads;
  if (row_bytes(problem) >= row_bytes_min && row_align_bytes(problem) >= 16) {
    for (const int cluster : cluster_choices) {
      if (cluster > cluster_max(spec) || !divides(problem, cluster)) continue;
      clusters.push_back(cluster);
      for (const int group : group_choices(problem, cluster)) {
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
      {"vector_bytes", {part_vector_bytes}},
      {"blocks_per_sm", {std::begin(blocks_per_sm_choices), std::end(blocks_per_sm_choices)}},
      {"tickets", {0, 1}},
      affine_held_axis(problem),
      x_evict_last_axis(spec)};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int cluster = candidate.value("cluster");
  if (cluster > cluster_max(spec) || !divides(problem, cluster)) return false;
  const PartShape shape = shape_of(candidate, problem);
  if (candidate.value("tickets") != 0 && (cluster == 1 || shape.affine_held)) return false;
  if (shape.threads % (32 * shape.rows_per_block) != 0) return false;
  const std::vector<int> groups = group_choices(problem, cluster);
  if (std::find(groups.begin(), groups.end(), shape.group_threads()) == groups.end()) return false;
  const int threads_max = is_narrow(problem) ? narrow_threads_per_sm_max : wide_threads_per_sm_max;
  if (!holds_parts(shape, shared_bytes(shape, message_bytes(cluster, 2)), problem, spec,
                   threads_max)) {
    return false;
  }
  if (is_narrow(problem)) {
    return shape.rows_per_block >= narrow_rows_per_block_min &&
           shape.blocks_per_sm >= narrow_blocks_per_sm_min;
  }
  if (shape.blocks_per_sm > blocks_per_sm_max) return false;
  // One row at a time is for few rows, of which each has many blocks.
  if (shape.rows_per_block * shape.blocks_per_sm == 1) return true;
  // Else few threads cannot keep up, and what is on its way into a multiprocessor must cover the
  // latency of memory.
  return shape.threads * shape.blocks_per_sm >= 256 &&
         10 * shape.bytes_ahead() >= spec.shared_bytes_per_sm;
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const PartShape shape = shape_of(candidate, problem);
  const std::int64_t blocks_max = std::int64_t{shape.blocks_per_sm} * spec.sm_count;
  return {.entries = {"normd_kernel"},
          .block = shape.threads,
          .cluster = shape.blocks,
          .shared_bytes = static_cast<int>(shared_bytes(shape, message_bytes(shape.blocks, 2))),
          .rows_per_block = shape.rows_per_block,
          .blocks_per_row = shape.blocks,
          .resident = true,
          .blocks_max = std::max<std::int64_t>(blocks_max, shape.blocks),
          .workspace_bytes = candidate.value("tickets") * tickets_bytes};
}

constexpr double exchange_cycles = 1200;

double rows_at_once(const PartShape& shape, const DeviceSpec& spec) {
  return static_cast<double>(shape.blocks_per_sm) * spec.sm_count / shape.blocks *
         shape.rows_per_block;
}

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const PartShape shape = shape_of(candidate, problem);
  return part_plan(shape, problem, shape.blocks == 1 ? 0 : exchange_cycles);
}

// Most of the L2 cache, and no more than it.
bool fills_cache(const Problem& problem, const DeviceSpec& spec) {
  const double caches = x_and_y_in_caches(problem, spec);
  return caches >= narrow_caches_min && caches <= narrow_caches_max;
}

bool pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const PartShape shape = shape_of(candidate, problem);
  if (is_narrow(problem) && !fills_cache(problem, spec)) return false;
  // Where tickets are for sure, gamma and beta are asked for too seldom to be worth registers.
  const bool by_turns = shape.blocks > 1 || shape.affine_held;
  return x_evict_last_pays(candidate, problem, spec) && shape.rows_per_block <= problem.rows &&
         (!by_turns ||
          tickets_pay(candidate.value("tickets") != 0, problem.rows, rows_at_once(shape, spec)));
}

}  // namespace

int cluster_max(const DeviceSpec& spec) {
  if (!has_bulk_copies(spec)) return 0;
  if (spec.capability == 0) return 4;
  return spec.capability >= 120 ? 8 : 16;
}

// On each side a message for each part, and an arrival; messages lie on 16 bytes.
std::int64_t message_bytes(int parts, int sides) {
  return (std::int64_t{sides} * (16 * parts + 8) + 15) / 16 * 16;
}

Template cluster_pipeline_template() {
  return {
      .name = "cluster_pipeline",
      .summary = "1 to 16 blocks own a row, the next one on its way by bulk copy; mostly wide rows",
      .text = kernel_text("cluster_pipeline.cuh"),
      .grade = Grade::exact,
      .axes = axes,
      .fits = fits,
      .launch = launch,
      .plan = plan,
      .pays = pays,
      .bytes_moved = useful_bytes,
      .sequential_adds = no_sequential_adds};
}

}  // namespace normd
