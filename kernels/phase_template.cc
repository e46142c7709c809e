#include "kernels/phase_template.h"

#include <algorithm>
#include <numeric>

#include "kernels/cache_hints.h"
#include "kernels/row_tickets.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int vector_bytes = 16;
constexpr int row_threads_choices[] = {32, 64, 128, 256, 512};
constexpr int threads_choices[] = {128, 256, 512};
constexpr int blocks_per_sm_choices[] = {1, 2, 3, 4, 6, 8};

// Aligned packs that a thread holds at the most; fewer leave threads idle.
constexpr std::int64_t packs_max = 8;

constexpr std::int64_t ticket_row_bytes_min = 4096;

// Counted in the machine code.
constexpr double element_instructions = 16;

// Of its turn, in which a group asks for a row, adds it up and stores it, the part in which it
// asks.
constexpr double asking_share = 0.7;

// Narrower rows are shared by few lanes, whose accesses are short anyway.
constexpr std::int64_t row_bytes_min = 256;

// The aligned packs of a row, but for the few elements before and behind them.
struct Body {
  int pack;            // elements of one access
  std::int64_t packs;  // of one thread
};

Body body(const Problem& problem, int row_threads) {
  const int pack = vector_bytes / static_cast<int>(size_bytes(problem.x));
  const std::int64_t row_packs = problem.columns / pack;
  return {pack, (row_packs + row_threads - 1) / row_threads};
}

// Of a thread, when so much of what it holds lies there converted to floats, too.
constexpr double converted_least = 0.5;
constexpr double converted_all = 1.0;
double registers_wanted(const Problem& problem, const Body& held, double converted) {
  const auto packs = static_cast<double>(held.packs);
  const double floats = size_bytes(problem.x) < sizeof(float) ? converted * held.pack : 0;
  return packs * (vector_bytes / 4.0 + floats) + working_registers;
}

int row_threads_of(const Candidate& candidate) {
  return candidate.value("threads") / candidate.value("groups");
}

// Rows that far apart begin in the same place of a pack.
int phases_of(const Problem& problem) {
  const int pack = body(problem, 32).pack;
  return pack / static_cast<int>(std::gcd(problem.columns, std::int64_t{pack}));
}

// As phase_aligned.cuh lays it out; the text asserts that both agree.
std::int64_t shared_bytes_of(const Candidate& candidate, const Problem& problem) {
  const Body whole = body(problem, 1);
  const auto shifted_bytes = [&](const std::optional<DType>& dtype) {
    return (bytes_of(whole.packs * whole.pack, dtype) + 15) / 16 * 16 +
           bytes_of(2 * whole.pack, dtype);
  };
  const int scratch_floats = row_scratch_floats(row_threads_of(candidate) / 32);
  return shifted_bytes(problem.gamma) + shifted_bytes(problem.beta) +
         (std::int64_t{4} * scratch_floats + 8 * candidate.value("tickets")) *
             candidate.value("groups");
}

std::vector<Axis> axes(const Problem& problem, const DeviceSpec& spec) {
  // Wherever the tensors begin, some rows do not begin on 16 bytes.
  const bool wanted = problem.rows_layout == RowsLayout::contiguous &&
                      size_bytes(problem.x) == size_bytes(problem.y) &&
                      row_align_bytes(problem) < vector_bytes &&
                      bytes_of(problem.columns, problem.x) >= row_bytes_min;
  std::vector<int> groups;
  if (wanted) groups = {1, 2, 4, 8};
  return {{"threads", {std::begin(threads_choices), std::end(threads_choices)}},
          {"vector_bytes", {vector_bytes}},
          {"groups", groups},
          {"blocks_per_sm", {std::begin(blocks_per_sm_choices), std::end(blocks_per_sm_choices)}},
          {"tickets", {0, 1}},
          x_evict_last_axis(spec)};
}

bool fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int row_threads = row_threads_of(candidate);
  if (row_threads * candidate.value("groups") != candidate.value("threads")) return false;
  if (std::find(std::begin(row_threads_choices), std::end(row_threads_choices), row_threads) ==
      std::end(row_threads_choices)) {
    return false;
  }
  // Smaller blocks share out a multiprocessor in the same way, and more of them divide by phases.
  if (candidate.value("threads") == 512 && row_threads < 256) return false;
  const Body held = body(problem, row_threads);
  if (held.packs > packs_max || (row_threads > 32 && held.packs < 2)) return false;
  const std::int64_t shared_bytes = shared_bytes_of(candidate, problem);
  const int blocks = candidate.value("blocks_per_sm");
  if (shared_bytes > spec.shared_bytes_per_block_max) return false;
  if (!shared_memory_holds(blocks, shared_bytes, spec)) return false;
  const int threads_per_sm = candidate.value("threads") * blocks;
  if (threads_per_sm < 512 || threads_per_sm > spec.threads_per_sm_max) return false;
  return registers_wanted(problem, held, converted_least) <= registers_max(threads_per_sm, spec);
}

Launch launch(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  return {.entries = {"normd_kernel"},
          .block = candidate.value("threads"),
          .shared_bytes = static_cast<int>(shared_bytes_of(candidate, problem)),
          .rows_per_block = candidate.value("groups") * phases_of(problem),
          .blocks_per_row = phases_of(problem),
          .resident = true,
          .blocks_max = std::max<std::int64_t>(
              std::int64_t{candidate.value("blocks_per_sm")} * spec.sm_count, phases_of(problem)),
          .workspace_bytes = candidate.value("tickets") * tickets_bytes};
}

Plan plan(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int threads = candidate.value("threads");
  const int threads_per_sm = threads * candidate.value("blocks_per_sm");
  const Body held = body(problem, row_threads_of(candidate));
  const auto elements = static_cast<double>(held.packs * held.pack);
  const double warps_per_scheduler = threads_per_sm / 128.0;
  const int given = registers_max(threads_per_sm, spec);
  const double shortage = std::max(0.0, registers_wanted(problem, held, converted_all) / given - 1);
  const double instructions = element_instructions * (1 + shortage);
  return {
      .registers = given,
      .bytes_in_flight = asking_share * static_cast<double>(held.packs) * vector_bytes * threads,
      .chain_cycles = 660 + instructions * elements * std::max(1.0, warps_per_scheduler / 2),
      .memory_trips = 1,
      .element_instructions = instructions,
      .independent = static_cast<double>(candidate.value("groups"))};
}

bool pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const double at_once = static_cast<double>(candidate.value("blocks_per_sm")) * spec.sm_count *
                         candidate.value("groups");
  // A turn of a short row is over before the ticket has come.
  const std::int64_t rows =
      bytes_of(problem.columns, problem.x) < ticket_row_bytes_min ? 0 : problem.rows;
  return x_evict_last_pays(candidate, problem, spec) &&
         tickets_pay(candidate.value("tickets") != 0, rows, at_once);
}

}  // namespace

Template phase_aligned_template() {
  return {.name = "phase_aligned",
          .summary = "aligned accesses for rows that start anywhere; odd widths",
          .text = kernel_text("phase_aligned.cuh"),
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
