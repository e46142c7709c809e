#include "kernels/thread_template.h"

#include <algorithm>

#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int threads_choices[] = {128, 256};
constexpr int rows_per_thread_choices[] = {1, 2, 4, 8, 16, 32, 64};
constexpr int blocks_per_sm_choices[] = {0, 2, 3, 4, 6, 8};

// Up to so many, any rows; up to so many, those whose chunks are an odd number of accesses, so that
// threads do not meet in a bank. Wider rows have lanes enough to share them.
constexpr std::int64_t any_columns_max = 32;
constexpr std::int64_t columns_max = 64;

// Of x, that a thread has on their way: an access of its own at the least, 32 registers at the
// most, and of wide rows one, or two that begin on a word together.
constexpr std::int64_t thread_bytes_min = 16;
constexpr std::int64_t thread_bytes_max = 128;
constexpr std::int64_t wide_thread_bytes_max = 208;
// Of blocks that do not stay, that are to fit a multiprocessor, as thread_rows.cuh has it.
constexpr int threads_per_sm_min = 384;

std::int64_t thread_bytes(const Candidate& candidate, const Problem& problem) {
  return candidate.value("rows_per_thread") * bytes_of(problem.columns, problem.x);
}

std::int64_t affine_floats_of(const Problem& problem) {
  return ((problem.gamma ? 1 : 0) + (problem.beta ? 1 : 0)) * problem.columns;
}

// As thread_rows.cuh lays it out; the text asserts that both agree.
std::int64_t shared_bytes_of(const Candidate& candidate, const Problem& problem) {
  return (4 * affine_floats_of(problem) + 15) / 16 * 16 +
         candidate.value("threads") * thread_bytes(candidate, problem);
}

// That a thread works on at once: rows_in_chunk() of thread_rows.cuh.
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

bool narrow_enough(const Problem& problem) {
  if (problem.columns <= any_columns_max) return true;
  if (problem.columns > columns_max) return false;
  const std::int64_t chunk_bytes = chunk_rows(problem, 2) * bytes_of(problem.columns, problem.x);
  const std::int64_t access_bytes = chunk_bytes % 16 == 0 ? 16 : chunk_bytes % 8 == 0 ? 8 : 4;
  return chunk_bytes / access_bytes % 2 == 1;
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec&) {
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
          {"blocks_per_sm", {std::begin(blocks_per_sm_choices), std::end(blocks_per_sm_choices)}}};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const std::int64_t bytes = thread_bytes(candidate, problem);
  const bool wide = problem.columns > any_columns_max;
  const std::int64_t bytes_max = wide ? wide_thread_bytes_max : thread_bytes_max;
  if (bytes < thread_bytes_min || bytes > bytes_max || bytes % 4 != 0) return false;
  const std::int64_t shared_bytes = shared_bytes_of(candidate, problem);
  if (shared_bytes > spec.shared_bytes_per_block_max) return false;
  // For the next stretch, for a chunk as floats, and for gamma and beta.
  const std::int64_t affine_floats = affine_floats_of(problem);
  const std::int64_t registers = bytes / 4 + chunk_elements(candidate, problem) +
                                 (affine_floats <= 16 ? affine_floats : 0) + 48;
  const int blocks = candidate.value("blocks_per_sm");
  if (blocks == 0) {
    return registers <=
           registers_max(std::max(threads_per_sm_min, candidate.value("threads")), spec);
  }
  // Blocks that stay leave the multiprocessor neither half empty nor short of registers.
  const int threads_per_sm = blocks * candidate.value("threads");
  if (threads_per_sm < threads_per_sm_min ||
      threads_per_sm > std::min(1024, spec.threads_per_sm_max)) {
    return false;
  }
  return registers <= registers_max(threads_per_sm, spec) &&
         shared_memory_holds(blocks, shared_bytes, spec);
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int blocks = candidate.value("blocks_per_sm");
  Launch launch{.entries = {"normd_kernel"},
                .block = candidate.value("threads"),
                .shared_bytes = static_cast<int>(shared_bytes_of(candidate, problem)),
                .rows_per_block =
                    std::int64_t{candidate.value("threads")} * candidate.value("rows_per_thread")};
  if (blocks > 0) {
    launch.resident = true;
    launch.blocks_max = std::int64_t{blocks} * spec.sm_count;
  }
  return launch;
}

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const auto columns = static_cast<double>(problem.columns);
  const auto bytes = static_cast<double>(thread_bytes(candidate, problem));
  const int threads = candidate.value("threads");
  const int blocks = candidate.value("blocks_per_sm");
  return {.registers = 65536 / (threads * (blocks > 0 ? blocks : 1024 / threads)) / 8 * 8,
          .bytes_in_flight = bytes * threads,
          .chain_cycles = 300 + 20.0 * candidate.value("rows_per_thread") * columns,
          .memory_trips = 1,
          .element_instructions = 8 + 28 / columns,
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
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
