#include "kernels/register_templates.h"

#include <algorithm>
#include <bit>

#include "kernels/cache_hints.h"
#include "kernels/register_costs.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

// --- block_registers ---

constexpr int rows_per_block_choices[] = {1, 2, 4};
constexpr int packs_choices[] = {1, 2, 3, 4, 5, 6, 8, 12, 16};

// Narrower rows are soon done, and few threads wait for two long ones.
constexpr std::int64_t two_rows_bytes_min = 10240;
constexpr int two_rows_threads_min = 160;

// Beside x, gamma and beta, where nothing keeps the compilers from it.
constexpr int taken_unasked = 45;

// Threads that share a row so that each holds one of packs_choices; counts that are no power of two
// only where no pack is missing.
std::vector<int> row_threads_choices(const Problem& problem, int vector_bytes) {
  const std::int64_t row_packs = slice_shape(problem, vector_bytes, 1).row_packs;
  std::vector<int> choices;
  for (const int packs : packs_choices) {
    const std::int64_t threads = ((row_packs + packs - 1) / packs + 31) / 32 * 32;
    const bool full = threads * packs == row_packs;
    if (threads > 1024 || (!std::has_single_bit(static_cast<unsigned>(packs)) && !full)) continue;
    choices.push_back(static_cast<int>(threads));
  }
  std::sort(choices.begin(), choices.end());
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  return choices;
}

std::vector<Axis> block_registers_axes(const Problem& problem, const DeviceSpec& spec) {
  const std::vector<int> vector_bytes = vector_bytes_choices(problem, spec);
  std::vector<int> threads;
  for (const int bytes : vector_bytes) {
    for (const int row_threads : row_threads_choices(problem, bytes)) {
      for (const int rows : rows_per_block_choices) {
        if (row_threads * rows <= spec.threads_per_block_max) threads.push_back(row_threads * rows);
      }
    }
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return {
      {"threads", threads},
      {"vector_bytes", vector_bytes},
      {"rows_per_block", {std::begin(rows_per_block_choices), std::end(rows_per_block_choices)}},
      {"rows_per_group", {1, 2}},
      {"threads_per_sm", {0, 768, 1024}},
      x_evict_last_axis(spec)};
}

// Of warps that share a row.
int groups_of(const Candidate& candidate) {
  return std::max(1, candidate.value("rows_per_block") / candidate.value("rows_per_group"));
}

int row_threads_of(const Candidate& candidate) {
  return candidate.value("threads") / groups_of(candidate);
}

// As block_registers.cuh has it; 0: as many blocks as happen to fit.
int blocks_wanted(const Candidate& candidate) {
  return std::max(1, candidate.value("threads_per_sm") / candidate.value("threads"));
}

// Registers beside x, gamma and beta, as row_slice.cuh has it.
int others(const Candidate& candidate) {
  return blocks_wanted(candidate) > 1 ? fewest_registers : working_registers;
}

SliceShape block_shape(const Candidate& candidate, const Problem& problem) {
  return slice_shape(problem, candidate.value("vector_bytes"), row_threads_of(candidate));
}

bool block_registers_fits(const Candidate& candidate, const Problem& problem,
                          const DeviceSpec& spec) {
  const int threads = candidate.value("threads");
  const int rows_per_group = candidate.value("rows_per_group");
  if (candidate.value("rows_per_block") % rows_per_group != 0) return false;
  const int groups = groups_of(candidate);
  if (threads % (groups * 32) != 0) return false;
  const std::vector<int> choices = row_threads_choices(problem, candidate.value("vector_bytes"));
  if (std::find(choices.begin(), choices.end(), row_threads_of(candidate)) == choices.end()) {
    return false;
  }
  // Several groups share a block only to make a small block larger.
  if (groups > 1 && threads > 256) return false;
  if (rows_per_group > 1 && (groups > 1 || threads < two_rows_threads_min ||
                             bytes_of(problem.columns, problem.x) < two_rows_bytes_min)) {
    return false;
  }
  const SliceShape shape = block_shape(candidate, problem);
  if (rows_per_group * shape.elements() > 128) return false;
  const std::int64_t x_registers = rows_per_group * shape.x_registers;
  const int blocks = blocks_wanted(candidate);
  const int registers = registers_max(threads * blocks, spec);
  if (x_registers + others(candidate) > registers) return false;
  // Asked for only where so many blocks would otherwise hardly fit.
  return candidate.value("threads_per_sm") == 0 ||
         (blocks > 1 && x_registers + shape.affine_registers + taken_unasked > registers);
}

// As RowScratch of templates/row_reduce.cuh lays it out; the text asserts that both agree.
int scratch_bytes(int row_warps, int rows_held, int rows_together = 1) {
  if (row_warps == 1) return 0;
  const int doubles_bytes = rows_held == 1 ? 8 * ((row_warps + 1) / 2 * 2) : 0;
  return doubles_bytes + 4 * row_scratch_floats(row_warps, rows_together) * rows_held;
}

Launch block_registers_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return one_turn(candidate.value("threads"), candidate.value("rows_per_block"),
                  scratch_bytes(row_threads_of(candidate) / 32, groups_of(candidate),
                                candidate.value("rows_per_group")));
}

Plan block_registers_plan(const Candidate& candidate, const Problem& problem,
                          const DeviceSpec& spec) {
  const SliceShape shape = block_shape(candidate, problem);
  const int threads = candidate.value("threads");
  const int row_warps = row_threads_of(candidate) / 32;
  const int rows_per_group = candidate.value("rows_per_group");
  const std::int64_t x_registers = rows_per_group * shape.x_registers;
  const std::int64_t held = x_registers + shape.affine_registers + others(candidate);
  const bool affine_held = held <= registers_max(threads * blocks_wanted(candidate), spec);
  const double reduction =
      (5 * shuffle_cycles +
       (row_warps == 1
            ? 0
            : barrier_cycles + shuffle_cycles * std::bit_width(static_cast<unsigned>(row_warps))));
  return {
      .registers = static_cast<int>(x_registers + (affine_held ? shape.affine_registers : 0) + 28),
      .bytes_in_flight = static_cast<double>(rows_per_group * shape.packs) *
                         candidate.value("vector_bytes") * threads,
      .chain_cycles = reduction +
                      element_cycles * 0.5 *
                          static_cast<double>((1 + rows_per_group) * shape.elements()) *
                          std::max(1.0, threads / 128.0) +
                      static_cast<double>(threads) / 4,
      .memory_trips = affine_held ? 1.0 : 1.5,
      .element_instructions = element_instructions(shape.pack),
      .independent = static_cast<double>(rows_per_group)};
}

bool block_registers_pays(const Candidate& candidate, const Problem& problem,
                          const DeviceSpec& spec) {
  const int rows = candidate.value("rows_per_block");
  if (!x_evict_last_pays(candidate, problem, spec)) return false;
  if (rows > 1 && !fills_device(problem.rows / rows, spec)) return false;
  return candidate.value("threads_per_sm") == 0 ||
         fills_schedulers(problem.rows / rows * candidate.value("threads"), spec);
}

// --- block_tiled ---

std::vector<Axis> block_tiled_axes(const Problem& problem, const DeviceSpec& spec) {
  return {{"threads", {256, 512, 1024}},
          {"vector_bytes", {vector_bytes_choices(problem, spec).back()}},
          {"unroll", {1, 2, 4}}};
}

bool block_tiled_fits(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  // Below 16384 elements some block holds a row in registers, whatever the alignment.
  const SliceShape shape =
      slice_shape(problem, candidate.value("vector_bytes"), candidate.value("threads"));
  return problem.columns > 16384 && shape.packs >= candidate.value("unroll");
}

Launch block_tiled_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return {.entries = {"normd_kernel"},
          .block = candidate.value("threads"),
          .shared_bytes = scratch_bytes(candidate.value("threads") / 32, 1)};
}

Plan block_tiled_plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const int threads = candidate.value("threads");
  const SliceShape shape = slice_shape(problem, candidate.value("vector_bytes"), threads);
  const double tiles = static_cast<double>(shape.packs) / candidate.value("unroll");
  return {.registers = 48,
          .bytes_in_flight = static_cast<double>(candidate.value("unroll")) *
                             candidate.value("vector_bytes") * threads,
          .chain_cycles = 600 + element_cycles * 2 * static_cast<double>(shape.elements()),
          .memory_trips = 2 * tiles,
          .element_instructions = element_instructions(shape.pack) + 4};
}

}  // namespace

Template block_registers_template() {
  return {.name = "block_registers",
          .summary = "1 to 32 warps own a row, held in registers; the main template",
          .text = kernel_text("block_registers.cuh"),
          .grade = Grade::exact,
          .axes = block_registers_axes,
          .fits = block_registers_fits,
          .launch = block_registers_launch,
          .plan = block_registers_plan,
          .pays = block_registers_pays,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

Template block_tiled_template() {
  return {.name = "block_tiled",
          .summary = "a block goes over its row twice; rows wider than a block can hold",
          .text = kernel_text("block_tiled.cuh"),
          .grade = Grade::exact,
          .axes = block_tiled_axes,
          .fits = block_tiled_fits,
          .launch = block_tiled_launch,
          .plan = block_tiled_plan,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
