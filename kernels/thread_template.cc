#include "kernels/thread_template.h"

#include <algorithm>

#include "kernels/cache_hints.h"
#include "kernels/register_costs.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int threads_choices[] = {64, 128};
constexpr int rows_per_thread_choices[] = {1, 2, 4, 8, 16, 32, 64};

// Up to so many, any rows; up to so many, those whose chunks are an odd number of accesses. Of an
// even number sub_warp is as fast or faster, and of wider ones, too.
constexpr std::int64_t any_columns_max = 32;
constexpr std::int64_t columns_max = 104;

// Of x, that a thread asks for at once: an access of its own at the least, 32 registers at the
// most, and of wide rows one, or two that begin on a word together.
constexpr std::int64_t thread_bytes_min = 16;
constexpr std::int64_t thread_bytes_max = 128;
constexpr std::int64_t wide_thread_bytes_max = 208;
// As thread_rows.cuh and thread_chunk.cuh have them: threads that are to fit a multiprocessor, and
// the widest rows that are held as floats.
constexpr int threads_resident = 512;
constexpr std::int64_t columns_held = 24;

std::int64_t thread_bytes(const Candidate& candidate, const Problem& problem) {
  return candidate.value("rows_per_thread") * bytes_of(problem.columns, problem.x);
}

std::int64_t affine_floats_of(const Problem& problem) {
  return ((problem.gamma ? 1 : 0) + (problem.beta ? 1 : 0)) * problem.columns;
}

// That a thread works on at once: rows_in_chunk() of thread_chunk.cuh.
std::int64_t chunk_rows(const Problem& problem, std::int64_t rows_per_thread) {
  const std::int64_t row_bytes = bytes_of(problem.columns, problem.x);
  std::int64_t rows = 1;
  while (rows < rows_per_thread && (rows * row_bytes % 4 != 0 || 2 * rows * row_bytes <= 16)) {
    rows *= 2;
  }
  return rows;
}
std::int64_t chunk_elements(const Candidate& candidate, const Problem& problem) {
  return chunk_rows(problem, candidate.value("rows_per_thread")) * problem.columns;
}

// As thread_rows.cuh lays it out; the text asserts that both agree. Of accesses of 16 bytes alone
// a chunk may be an even number, which the gap between chunks makes odd.
std::int64_t shared_bytes_of(const Candidate& candidate, const Problem& problem) {
  const int rows_per_thread = candidate.value("rows_per_thread");
  const std::int64_t rows = chunk_rows(problem, rows_per_thread);
  const std::int64_t chunk_bytes = bytes_of(rows * problem.columns, problem.x);
  const std::int64_t gap_bytes = chunk_bytes % 32 == 0 ? 16 : 0;
  return (4 * affine_floats_of(problem) + 15) / 16 * 16 +
         candidate.value("threads") * rows_per_thread / rows * (chunk_bytes + gap_bytes);
}

bool narrow_enough(const Problem& problem) {
  if (problem.columns <= any_columns_max) return true;
  if (problem.columns > columns_max) return false;
  const std::int64_t chunk_bytes = chunk_rows(problem, 2) * bytes_of(problem.columns, problem.x);
  const std::int64_t access_bytes = chunk_bytes % 16 == 0 ? 16 : chunk_bytes % 8 == 0 ? 8 : 4;
  return chunk_bytes / access_bytes % 2 == 1;
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  const bool wanted = problem.rows_layout == RowsLayout::contiguous &&
                      size_bytes(problem.x) == size_bytes(problem.y) && narrow_enough(problem) &&
                      problem.align_bytes >= 4;
  std::vector<int> rows_per_thread;
  if (wanted) {
    rows_per_thread = {std::begin(rows_per_thread_choices), std::end(rows_per_thread_choices)};
  }
  return {{"threads", {std::begin(threads_choices), std::end(threads_choices)}},
          {"vector_bytes", {std::min(16, problem.align_bytes)}},
          {"rows_per_thread", rows_per_thread},
          x_evict_last_axis(spec)};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const std::int64_t bytes = thread_bytes(candidate, problem);
  const bool wide = problem.columns > any_columns_max;
  const std::int64_t bytes_max = wide ? wide_thread_bytes_max : thread_bytes_max;
  if (bytes < thread_bytes_min || bytes > bytes_max || bytes % 4 != 0) return false;
  const std::int64_t shared_bytes = shared_bytes_of(candidate, problem);
  if (shared_bytes > spec.shared_bytes_per_block_max) return false;
  // The stretch on its way, and after it a chunk as floats, with gamma and beta.
  const std::int64_t affine_floats = affine_floats_of(problem);
  const std::int64_t floats =
      problem.columns <= columns_held ? chunk_elements(candidate, problem) : 0;
  const std::int64_t registers =
      std::max(bytes / 4, floats) + (affine_floats <= 16 ? affine_floats : 0) + working_registers;
  return registers <= registers_max(threads_resident, spec);
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const int threads = candidate.value("threads");
  return one_turn(threads, std::int64_t{threads} * candidate.value("rows_per_thread"),
                  static_cast<int>(shared_bytes_of(candidate, problem)));
}

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const auto columns = static_cast<double>(problem.columns);
  const auto bytes = static_cast<double>(thread_bytes(candidate, problem));
  const int threads = candidate.value("threads");
  return {.registers = 64,
          .bytes_in_flight = bytes * threads,
          .chain_cycles = 200 + 4.0 * candidate.value("rows_per_thread") * columns,
          .memory_trips = 1,
          .element_instructions = 6.5 + 28 / columns,
          .independent = threads / 32.0};
}

}  // namespace

Template thread_rows_template() {
  return {.name = "thread_rows",
          .summary = "a thread owns rows of a few elements, which a warp moves by full accesses",
          .text = kernel_text("thread_rows.cuh"),
          .grade = Grade::exact,
          .axes = axes,
          .fits = fits,
          .launch = launch,
          .plan = plan,
          .pays = x_evict_last_pays,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
