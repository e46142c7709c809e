// SliceShape: how a row is shared out among the threads that own it, in packs of vector_bytes: the
// host's side of templates/row_slice.cuh. Plain value and pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device_spec.h"
#include "kernels/problem.h"

namespace normd {

struct SliceShape {
  int pack = 1;                // elements of x per access
  std::int64_t row_packs = 1;  // of one row
  std::int64_t packs = 1;      // of one thread
  std::int64_t x_registers = 1;
  std::int64_t affine_registers = 0;

  std::int64_t elements() const { return packs * pack; }
};

SliceShape slice_shape(const Problem& problem, int vector_bytes, int threads_per_row);

// The access widths that every row start of x allows, ascending: the widest, and the next narrower
// while a row is so short that more threads may be worth more than wider accesses.
std::vector<int> vector_bytes_choices(const Problem& problem, const DeviceSpec& spec);

// Registers a thread may have, of a block that can still be launched.
int registers_max(int block_threads, const DeviceSpec& spec);

// What so many columns of a tensor take; nothing where the problem has no such tensor.
std::int64_t bytes_of(std::int64_t columns, const std::optional<DType>& dtype);

// Floats of RowScratch (templates/row_reduce.cuh) for one row that `row_warps` warps share, or for
// so many at once.
int row_scratch_floats(int row_warps, int rows_together = 1);

// Whether so many blocks with that much dynamic shared memory each share a multiprocessor.
bool shared_memory_holds(int blocks, std::int64_t shared_bytes, const DeviceSpec& spec);

// Registers that a slice's loop needs beside what it holds: addresses, sums, one pack converted.
inline constexpr int working_registers = 40;
inline constexpr int fewest_registers = 30;  // where fewer are given out

}  // namespace normd
