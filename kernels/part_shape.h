// PartShape: how a row is divided among the blocks that share it, and what each then holds: the
// host's side of templates/row_part.cuh and templates/part_pipeline.cuh. Plain value and pure
// functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/problem.h"
#include "kernels/template.h"

namespace normd {

inline constexpr int part_vector_bytes = 16;  // of an access of a part

struct PartShape {
  int blocks = 1;  // that share a row
  int rows_per_block = 1;
  int threads = 0;  // of a block
  int blocks_per_sm = 1;
  std::int64_t columns = 0;       // of the widest part
  std::int64_t part_bytes = 0;    // of x
  bool affine_held = false;       // gamma and beta, in registers
  std::int64_t affine_bytes = 0;  // of gamma and beta in shared memory

  int group_threads() const { return threads / rows_per_block; }
  // What is on its way into a multiprocessor while as much is worked on.
  std::int64_t bytes_ahead() const { return blocks_per_sm * rows_per_block * part_bytes; }
};

// Columns of the widest part, where `blocks` share a row in whole multiples of `unit` columns.
std::int64_t widest_part(const Problem& problem, int blocks, std::int64_t unit);

// Of a candidate with the axes rows_per_block, threads and blocks_per_sm, whose `blocks` share a
// row in whole multiples of `unit` columns.
PartShape part_shape(const Candidate& candidate, const Problem& problem, int blocks,
                     std::int64_t unit, bool affine_held = false);

// Columns of which every tensor's are whole multiples of `bytes`.
std::int64_t columns_of_bytes(const Problem& problem, int bytes);

std::int64_t row_bytes(const Problem& problem);  // of x

// Of a block; `exchange_bytes`: what a group keeps there for the exchange between blocks, with its
// arrivals.
std::int64_t shared_bytes(const PartShape& shape, std::int64_t exchange_bytes);

// Threads of a group so that each holds at most so many packs of a part.
std::vector<int> group_threads_choices(std::int64_t part_bytes, const std::vector<int>& packs);

// More threads have too few registers to hold x and work on it, but where x is narrow.
inline constexpr int wide_threads_per_sm_max = 1024;

// Whether shared memory and registers hold what is worked on and what is on its way.
bool holds_parts(const PartShape& shape, std::int64_t shared_bytes, const Problem& problem,
                 const DeviceSpec& spec, int threads_per_sm_max = wide_threads_per_sm_max);

// `exchange_cycles`: what the exchange between blocks takes of a row.
Plan part_plan(const PartShape& shape, const Problem& problem, double exchange_cycles);

// Bulk copies begin with sm_90; the host device plays any chip that has them.
bool has_bulk_copies(const DeviceSpec& spec);

}  // namespace normd
