#include "kernels/slice_shape.h"

#include <algorithm>

namespace normd {
namespace {

// Rows up to this many bytes are latency-bound on every chip; above, wide accesses always win.
constexpr std::int64_t short_row_bytes = 4096;

// The system's own share of a block's shared memory, from sm_80 on.
constexpr int reserved_shared_bytes = 1024;

// A 16-bit element that is loaded alone takes a whole register.
std::int64_t pack_registers(int pack, const std::optional<DType>& dtype) {
  if (!dtype) return 0;
  return std::max<std::int64_t>(1, pack * static_cast<std::int64_t>(size_bytes(*dtype)) / 4);
}

}  // namespace

SliceShape slice_shape(const Problem& problem, int vector_bytes, int threads_per_row) {
  SliceShape shape;
  shape.pack = vector_bytes / static_cast<int>(size_bytes(problem.x));
  shape.row_packs = (problem.columns + shape.pack - 1) / shape.pack;
  shape.packs = (shape.row_packs + threads_per_row - 1) / threads_per_row;
  shape.x_registers = shape.packs * pack_registers(shape.pack, problem.x);
  shape.affine_registers = shape.packs * (pack_registers(shape.pack, problem.gamma) +
                                          pack_registers(shape.pack, problem.beta));
  return shape;
}

std::vector<int> vector_bytes_choices(const Problem& problem, const DeviceSpec& spec) {
  const int element = static_cast<int>(size_bytes(problem.x));
  const int widest = std::max(element, std::min(row_align_bytes(problem), spec.vector_bytes_max));
  // Half of it divides a short row of 16-bit elements more evenly among the lanes; of fp32 it never
  // was more than 1 % faster.
  const bool short_row = problem.columns * element <= short_row_bytes;
  if (element > 2 || widest / 2 < element || !short_row) return {widest};
  return {widest / 2, widest};
}

std::int64_t bytes_of(std::int64_t columns, const std::optional<DType>& dtype) {
  return dtype ? columns * static_cast<std::int64_t>(size_bytes(*dtype)) : 0;
}

int row_scratch_floats(int row_warps, int rows_together) {
  return row_warps == 1 ? 0 : 4 * rows_together * ((row_warps + 3) / 4 * 4);
}

bool shared_memory_holds(int blocks, std::int64_t shared_bytes, const DeviceSpec& spec) {
  return blocks * (shared_bytes + reserved_shared_bytes) <= spec.shared_bytes_per_sm;
}

int registers_max(int block_threads, const DeviceSpec& spec) {
  return std::min(255, spec.registers_per_sm / block_threads / 8 * 8);
}

}  // namespace normd
