#include "kernels/grid_template.h"

#include <algorithm>

#include "kernels/cache_hints.h"
#include "kernels/part_shape.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

// Rows at once, of a block each: how the device's blocks are divided among rows.
constexpr int sets_choices[] = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr int rows_per_block_max = 6;
constexpr int rows_per_block_choices[] = {1, 2, 3, 4, rows_per_block_max};
constexpr int blocks_per_sm_choices[] = {1, 2};
constexpr int packs_few = 2;  // that a thread holds at the most, where one row is all there is
const std::vector<int> packs_choices = {4, 8};

// Narrower parts are not worth an exchange over the whole device, wider ones leave no room for the
// next row.
constexpr std::int64_t part_bytes_min = 1024;
constexpr std::int64_t part_bytes_max = 98304;
constexpr std::int64_t row_bytes_min = 16384;

// What a group keeps for the exchange: the row's moments.
constexpr std::int64_t exchange_bytes = 16;

std::int64_t blocks_at_once(int blocks_per_sm, const DeviceSpec& spec) {
  return std::int64_t{blocks_per_sm} * spec.sm_count;
}

// As grid_pipeline.cuh chooses it: parts begin on sectors of memory where the width allows it.
std::int64_t unit_of(const Problem& problem) {
  const std::int64_t sector = columns_of_bytes(problem, 32);
  return problem.columns % sector == 0 ? sector : columns_of_bytes(problem, 16);
}

PartShape shape_of(const Candidate& candidate, const Problem& problem) {
  return part_shape(candidate, problem, candidate.value("blocks_per_row"), unit_of(problem));
}

// Messages of a group in two sides and its count of turns, on 64 bytes: the text's Mailbox.
std::int64_t mailbox_bytes(int blocks) {
  return (std::int64_t{2} * 16 * blocks + 4 + 63) / 64 * 64;
}

std::int64_t part_bytes(const Problem& problem, int blocks) {
  return bytes_of(widest_part(problem, blocks, unit_of(problem)), problem.x);
}

bool divides(const Problem& problem, int blocks) {
  const std::int64_t bytes = part_bytes(problem, blocks);
  return bytes >= part_bytes_min && bytes <= part_bytes_max;
}

bool takes(const Problem& problem, const DeviceSpec& spec) {
  return has_bulk_copies(spec) && row_bytes(problem) >= row_bytes_min &&
         row_align_bytes(problem) >= 16 && problem.columns % columns_of_bytes(problem, 16) == 0;
}

std::vector<int> group_choices(const Problem& problem, int blocks, bool few) {
  std::vector<int> choices = group_threads_choices(part_bytes(problem, blocks), packs_choices);
  if (few) {
    choices.push_back(group_threads_choices(part_bytes(problem, blocks), {packs_few}).front());
  }
  return choices;
}

void sort_once(std::vector<int>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<int> blocks_choices(const Problem& problem, const DeviceSpec& spec) {
  std::vector<int> choices;
  if (!takes(problem, spec)) return choices;
  // More would only take more messages: a lane holds one of every 32.
  const int blocks_max = std::max(32, spec.sm_count);
  for (const int blocks_per_sm : blocks_per_sm_choices) {
    for (const int sets : sets_choices) {
      const auto blocks = static_cast<int>(blocks_at_once(blocks_per_sm, spec) / sets);
      if (blocks > 1 && blocks <= blocks_max && divides(problem, blocks)) choices.push_back(blocks);
    }
  }
  sort_once(choices);
  return choices;
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  const std::vector<int> blocks_per_row = blocks_choices(problem, spec);
  std::vector<int> threads;
  for (const int blocks : blocks_per_row) {
    for (const int rows : rows_per_block_choices) {
      for (const int group : group_choices(problem, blocks, rows == 1)) {
        if (group * rows <= spec.threads_per_block_max) threads.push_back(group * rows);
      }
    }
  }
  sort_once(threads);
  return {
      {"blocks_per_row", blocks_per_row},
      {"rows_per_block", {std::begin(rows_per_block_choices), std::end(rows_per_block_choices)}},
      {"threads", threads},
      {"vector_bytes", {part_vector_bytes}},
      {"blocks_per_sm", {std::begin(blocks_per_sm_choices), std::end(blocks_per_sm_choices)}},
      x_evict_last_axis(spec)};
}

// Whether (almost) every multiprocessor has work.
bool fills(int blocks, int blocks_per_sm, const DeviceSpec& spec) {
  const std::int64_t there = blocks_at_once(blocks_per_sm, spec);
  return blocks <= there && 16 * (there / blocks * blocks) >= 15 * there;
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int blocks = candidate.value("blocks_per_row");
  const int rows = candidate.value("rows_per_block");
  const int threads = candidate.value("threads");
  const int blocks_per_sm = candidate.value("blocks_per_sm");
  if (threads % (32 * rows) != 0 || !fills(blocks, blocks_per_sm, spec)) return false;
  // What a larger block could do alone: two would keep gamma and beta twice.
  if (blocks_per_sm > 1 && 2 * rows <= rows_per_block_max) return false;
  if (!takes(problem, spec) || !divides(problem, blocks)) return false;
  const bool few = rows * blocks_per_sm == 1;  // a row at a time is for few rows
  const std::vector<int> groups = group_choices(problem, blocks, few);
  if (std::find(groups.begin(), groups.end(), threads / rows) == groups.end()) return false;
  const PartShape shape = shape_of(candidate, problem);
  if (!holds_parts(shape, shared_bytes(shape, exchange_bytes), problem, spec)) return false;
  // Else what is on its way into a multiprocessor must cover the latency of memory and of the
  // exchange, and few threads cannot keep up.
  return few ||
         (threads * blocks_per_sm >= 256 && 8 * shape.bytes_ahead() >= spec.shared_bytes_per_sm);
}

// Of blocks that share rows: so many work side by side.
std::int64_t sets_of(const PartShape& shape, const DeviceSpec& spec) {
  return std::max<std::int64_t>(1, blocks_at_once(shape.blocks_per_sm, spec) / shape.blocks);
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const PartShape shape = shape_of(candidate, problem);
  const std::int64_t sets = sets_of(shape, spec);
  return {.entries = {"normd_kernel"},
          .block = shape.threads,
          .shared_bytes = static_cast<int>(shared_bytes(shape, exchange_bytes)),
          .cooperative = true,
          .rows_per_block = shape.rows_per_block,
          .blocks_per_row = shape.blocks,
          .resident = true,
          .blocks_max = sets * shape.blocks,
          .workspace_bytes = sets * shape.rows_per_block * mailbox_bytes(shape.blocks)};
}

// The way of a message through the L2 cache, the wait for the last of them, and the traffic of
// asking for all; the first two are from how grid_pipeline did with many rows on an H200, and with
// so few that each group has one.
constexpr double exchange_cycles = 8000;
constexpr double exchange_cycles_once = 2000;
constexpr double message_cycles = 15;

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const PartShape shape = shape_of(candidate, problem);
  const bool one_turn = problem.rows <= sets_of(shape, spec) * shape.rows_per_block;
  const double exchange = one_turn ? exchange_cycles_once : exchange_cycles;
  return part_plan(shape, problem, exchange + message_cycles * shape.blocks);
}

bool pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  return x_evict_last_pays(candidate, problem, spec) &&
         candidate.value("rows_per_block") <= problem.rows;
}

}  // namespace

Template grid_pipeline_template() {
  return {
      .name = "grid_pipeline",
      .summary = "any number of blocks all over the device own a row; very wide and few wide rows",
      .text = kernel_text("grid_pipeline.cuh"),
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
