#include "kernels/part_shape.h"

#include <algorithm>

#include "kernels/slice_shape.h"

namespace normd {
namespace {

// Cycles of one row: what its reduction, the barriers and the waits beside it take of a group, and
// what a thread does for its elements while the other groups want the same pipelines.
constexpr double reduction_cycles = 990;
constexpr double element_cycles = 14;

}  // namespace

std::int64_t columns_of_bytes(const Problem& problem, int bytes) {
  std::size_t narrowest = size_bytes(problem.x);
  for (const std::optional<DType>& dtype : {problem.gamma, problem.beta}) {
    if (dtype) narrowest = std::min(narrowest, size_bytes(*dtype));
  }
  return bytes / static_cast<std::int64_t>(narrowest);
}

std::int64_t row_bytes(const Problem& problem) {
  return bytes_of(problem.columns, problem.x);
}

std::int64_t widest_part(const Problem& problem, int blocks, std::int64_t unit) {
  return (problem.columns / unit + blocks - 1) / blocks * unit;
}

PartShape part_shape(const Candidate& candidate, const Problem& problem, int blocks,
                     std::int64_t unit, bool affine_held) {
  const std::int64_t columns = widest_part(problem, blocks, unit);
  return {.blocks = blocks,
          .rows_per_block = candidate.value("rows_per_block"),
          .threads = candidate.value("threads"),
          .blocks_per_sm = candidate.value("blocks_per_sm"),
          .columns = columns,
          .part_bytes = bytes_of(columns, problem.x),
          .affine_held = affine_held,
          .affine_bytes =
              affine_held ? 0 : bytes_of(columns, problem.gamma) + bytes_of(columns, problem.beta)};
}

// As PartMemory lays it out; the text asserts that both agree.
std::int64_t shared_bytes(const PartShape& shape, std::int64_t exchange_bytes) {
  const int sums = std::max(4, row_scratch_floats(shape.group_threads() / 32));
  const std::int64_t area_bytes = exchange_bytes + 4 * sums + 16;
  return shape.affine_bytes + shape.rows_per_block * (shape.part_bytes + area_bytes) + 16;
}

std::vector<int> group_threads_choices(std::int64_t part_bytes, const std::vector<int>& packs) {
  const std::int64_t part_packs = part_bytes / part_vector_bytes;
  std::vector<int> choices;
  for (const int held : packs) {
    choices.push_back(static_cast<int>(((part_packs + held - 1) / held + 31) / 32 * 32));
  }
  return choices;
}

bool holds_parts(const PartShape& shape, std::int64_t shared_bytes, const Problem& problem,
                 const DeviceSpec& spec, int threads_per_sm_max) {
  if (shared_bytes > spec.shared_bytes_per_block_max) return false;
  if (!shared_memory_holds(shape.blocks_per_sm, shared_bytes, spec)) return false;
  const int threads_per_sm = shape.threads * shape.blocks_per_sm;
  if (threads_per_sm > threads_per_sm_max) return false;
  Problem part = problem;
  part.columns = shape.columns;
  const SliceShape slice = slice_shape(part, part_vector_bytes, shape.group_threads());
  const int registers = registers_max(threads_per_sm, spec);
  if (slice.x_registers + working_registers > registers) return false;
  // As Affine (templates/row_slice.cuh) counts them.
  const bool bounded = registers < registers_max(shape.threads, spec);
  const int others = bounded ? fewest_registers : working_registers;
  return !shape.affine_held || slice.x_registers + slice.affine_registers + others <= registers;
}

Plan part_plan(const PartShape& shape, const Problem& problem, double exchange_cycles) {
  const SliceShape slice =
      slice_shape(problem, part_vector_bytes, shape.group_threads() * shape.blocks);
  const double warps_per_scheduler = shape.threads * shape.blocks_per_sm / 128.0;
  return {.registers = 65536 / (shape.threads * shape.blocks_per_sm) / 8 * 8,
          .bytes_in_flight = static_cast<double>(shape.rows_per_block * shape.part_bytes),
          .chain_cycles = reduction_cycles + exchange_cycles +
                          element_cycles * static_cast<double>(slice.elements()) *
                              std::max(1.0, warps_per_scheduler / 2),
          .memory_trips = 0.5,
          .element_instructions = 12,
          .independent = shape.rows_per_block + 1.0};
}

bool has_bulk_copies(const DeviceSpec& spec) {
  return spec.capability >= 90 || (spec.capability == 0 && spec.kind == DeviceKind::host);
}

}  // namespace normd
