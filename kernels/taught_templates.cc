#include "kernels/taught_templates.h"

#include <algorithm>
#include <bit>

#include "kernels/text_expansion.h"

namespace normd {
namespace {

// Bytes of the plan as it is taught: so many reads of x, and gamma and beta for every element.
double plan_bytes(const Problem& problem, int x_reads) {
  double element_bytes = x_reads * static_cast<double>(size_bytes(problem.x)) +
                         static_cast<double>(size_bytes(problem.y));
  if (problem.gamma) element_bytes += static_cast<double>(size_bytes(*problem.gamma));
  if (problem.beta) element_bytes += static_cast<double>(size_bytes(*problem.beta));
  const double rows = static_cast<double>(problem.rows);
  double bytes = rows * static_cast<double>(problem.columns) * element_bytes;
  if (wants_mean(problem.stats)) bytes += 4.0 * rows;
  if (wants_rstd(problem.stats)) bytes += 4.0 * rows;
  return bytes;
}

double three_reads(const Problem& problem) {
  return plan_bytes(problem, 3);
}
double two_reads(const Problem& problem) {
  return plan_bytes(problem, 2);
}
double one_read(const Problem& problem) {
  return plan_bytes(problem, 1);
}

Launch one_kernel(int block, std::int64_t rows_per_block, std::int64_t shared_bytes) {
  return {.entries = {"normd_kernel"},
          .block = block,
          .shared_bytes = static_cast<int>(shared_bytes),
          .rows_per_block = rows_per_block};
}

std::int64_t share_of(const Problem& problem, int threads) {
  return (problem.columns + threads - 1) / threads;
}

bool always_fits(const Candidate&, const Problem&, const DeviceSpec&) {
  return true;
}

// Teaching templates are never ranked against others, so a rough plan will do: everything of a row
// in sequence per thread.
Plan rough_plan(const Problem& problem, int threads_per_row, int x_reads) {
  const auto share = static_cast<double>(share_of(problem, threads_per_row));
  return {.registers = 32,
          .bytes_in_flight = 4096,
          .chain_cycles = 10 * share,
          .memory_trips = x_reads * share / 4 + 1,
          .element_instructions = 12};
}

// --- one thread or one warp per row ---

std::vector<Axis> thread_axes(const Problem&, const DeviceSpec&) {
  return {{"threads", {64, 128, 256}}, {"unroll", {1, 4}}};
}

Launch thread_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return one_kernel(candidate.value("threads"), candidate.value("threads"), 0);
}

Plan thread_three_plan(const Candidate&, const Problem& problem, const DeviceSpec&) {
  return rough_plan(problem, 1, 3);
}

Plan thread_two_plan(const Candidate&, const Problem& problem, const DeviceSpec&) {
  return rough_plan(problem, 1, 2);
}

std::int64_t thread_adds(const Candidate&, const Problem& problem) {
  return problem.columns;
}

Launch warp_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return one_kernel(candidate.value("threads"), candidate.value("threads") / 32, 0);
}

Plan warp_plan(const Candidate&, const Problem& problem, const DeviceSpec&) {
  return rough_plan(problem, 32, 2);
}

// The lanes' sums are added up in five rounds.
constexpr std::int64_t warp_rounds = 5;

std::int64_t warp_adds(const Candidate&, const Problem& problem) {
  return share_of(problem, 32) + warp_rounds;
}

// --- one block per row ---

std::vector<Axis> block_axes(const Problem&, const DeviceSpec&) {
  return {{"threads", {128, 256, 512, 1024}}, {"unroll", {1, 4}}};
}

std::vector<Axis> block_axes_unrolled(const Problem&, const DeviceSpec&) {
  return {{"threads", {128, 256, 512, 1024}}};
}

Plan block_plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  return rough_plan(problem, candidate.value("threads"), 1);
}

// After its own share a thread adds by halves of the block ...
std::int64_t halves_adds(const Candidate& candidate, const Problem& problem) {
  const int threads = candidate.value("threads");
  return share_of(problem, threads) + std::bit_width(static_cast<unsigned>(threads));
}

// ... or over its warp, and then what every warp found, one after the other.
std::int64_t warps_adds(const Candidate& candidate, const Problem& problem) {
  const int threads = candidate.value("threads");
  return share_of(problem, threads) + warp_rounds + threads / 32;
}

std::int64_t block_shared_bytes(const Candidate& candidate, const Problem& problem) {
  return 4 * (problem.columns + candidate.value("threads"));
}

bool block_shared_fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  return block_shared_bytes(candidate, problem) <= spec.shared_bytes_per_block_max;
}

Launch block_shared_launch(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  return one_kernel(candidate.value("threads"), 1, block_shared_bytes(candidate, problem));
}

// Every element of the thread's share is a register, and all of its loop is unrolled.
bool block_two_pass_fits(const Candidate& candidate, const Problem& problem,
                         const DeviceSpec& spec) {
  const int threads = candidate.value("threads");
  constexpr std::int64_t others = 32;  // addresses, sums, one element of gamma and beta
  return share_of(problem, threads) + others <= std::min(128, spec.registers_per_sm / threads);
}

Launch block_two_pass_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return one_kernel(candidate.value("threads"), 1, 4 * candidate.value("threads") / 32);
}

Launch tiled_welford_launch(const Candidate& candidate, const Problem&, const DeviceSpec&) {
  return one_kernel(candidate.value("threads"), 1, 12 * candidate.value("threads") / 32);
}

}  // namespace

Template thread_three_pass_template() {
  return {.name = "thread_three_pass",
          .summary = "one thread owns a row and reads it three times",
          .text = kernel_text("thread_three_pass.cuh"),
          .grade = Grade::taught,
          .axes = thread_axes,
          .fits = always_fits,
          .launch = thread_launch,
          .plan = thread_three_plan,
          .bytes_moved = three_reads,
          .sequential_adds = thread_adds};
}

Template thread_welford_template() {
  return {.name = "thread_welford",
          .summary = "one thread owns a row: running mean and M2, then a second read",
          .text = kernel_text("thread_welford.cuh"),
          .grade = Grade::taught,
          .axes = thread_axes,
          .fits = always_fits,
          .launch = thread_launch,
          .plan = thread_two_plan,
          .bytes_moved = two_reads,
          .sequential_adds = thread_adds};
}

Template warp_welford_template() {
  return {.name = "warp_welford",
          .summary = "one warp owns a row: lanes merge their moments by shuffles",
          .text = kernel_text("warp_welford.cuh"),
          .grade = Grade::taught,
          .axes = thread_axes,
          .fits = always_fits,
          .launch = warp_launch,
          .plan = warp_plan,
          .bytes_moved = two_reads,
          .sequential_adds = warp_adds};
}

Template block_shared_template() {
  return {.name = "block_shared",
          .summary = "one block owns a row and keeps it in shared memory",
          .text = kernel_text("block_shared.cuh"),
          .grade = Grade::taught,
          .axes = block_axes,
          .fits = block_shared_fits,
          .launch = block_shared_launch,
          .plan = block_plan,
          .bytes_moved = one_read,
          .sequential_adds = halves_adds};
}

Template block_two_pass_template() {
  return {.name = "block_two_pass",
          .summary = "one block owns a row in registers: mean first, then squared deviations",
          .text = kernel_text("block_two_pass.cuh"),
          .grade = Grade::taught,
          .axes = block_axes_unrolled,
          .fits = block_two_pass_fits,
          .launch = block_two_pass_launch,
          .plan = block_plan,
          .bytes_moved = one_read,
          .sequential_adds = warps_adds};
}

Template tiled_welford_template() {
  return {.name = "tiled_welford",
          .summary = "one block goes over a row of any width in tiles and merges their moments",
          .text = kernel_text("tiled_welford.cuh"),
          .grade = Grade::taught,
          .axes = block_axes,
          .fits = always_fits,
          .launch = tiled_welford_launch,
          .plan = block_plan,
          .bytes_moved = two_reads,
          .sequential_adds = warps_adds};
}

}  // namespace normd
