#include <algorithm>
#include <bit>

#include "kernels/cache_hints.h"
#include "kernels/register_costs.h"
#include "kernels/register_templates.h"
#include "kernels/slice_shape.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

constexpr int threads_least = 64;

std::vector<Axis> sub_warp_axes(const Problem& problem, const DeviceSpec& spec) {
  return {{"lanes_per_row", {1, 2, 4, 8, 16, 32}},
          {"threads", {threads_least, 128, 256}},
          {"vector_bytes", vector_bytes_choices(problem, spec)},
          {"rows_per_group", {1, 2}},
          {"threads_per_sm", {0, 1024, 1536}},
          {"affine_shared", {0, 1}},
          x_evict_last_axis(spec)};
}

SliceShape sub_warp_shape(const Candidate& candidate, const Problem& problem) {
  return slice_shape(problem, candidate.value("vector_bytes"), candidate.value("lanes_per_row"));
}

// Of BlockAffine (templates/shared_affine.cuh), which brings gamma and beta 16 bytes at a time.
std::int64_t affine_bytes(const Problem& problem) {
  return bytes_of(problem.columns, problem.gamma) + bytes_of(problem.columns, problem.beta);
}
bool affine_in_pieces(const Problem& problem, const SliceShape& shape) {
  return affine_bytes(problem) > 0 && problem.align_bytes >= 16 &&
         problem.columns % shape.pack == 0 && bytes_of(problem.columns, problem.gamma) % 16 == 0 &&
         bytes_of(problem.columns, problem.beta) % 16 == 0;
}

std::int64_t rows_per_block(const Candidate& candidate) {
  return std::int64_t{candidate.value("threads")} / candidate.value("lanes_per_row") *
         candidate.value("rows_per_group");
}

// Beside x, at the least: less than nothing asks for, since the compilers hold back. The exact way
// of an fp32 y takes more.
int capped_registers(const Problem& problem) {
  return problem.y == DType::fp32 ? 34 : 26;
}

bool sub_warp_fits(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const SliceShape shape = sub_warp_shape(candidate, problem);
  const std::int64_t lanes = candidate.value("lanes_per_row");
  const std::int64_t rows_per_group = candidate.value("rows_per_group");
  // No lane is idle throughout.
  if (lanes > 1 && lanes / 2 >= shape.row_packs) return false;
  // A lane's accesses are a row apart: a few per row still fill their cache lines together.
  if (lanes < 32 && shape.packs > 4) return false;
  if (shape.elements() * rows_per_group > 128) return false;
  // Several rows in flight are for rows that bring few bytes.
  if (rows_per_group > 1 && shape.packs * rows_per_group > 8) return false;
  // Rows that share gamma and beta come in numbers, for which few registers pay; and the other way
  // round, where there is something to share.
  const bool shares = candidate.value("affine_shared") != 0;
  const bool could_share = affine_in_pieces(problem, shape);
  if (shares && (!could_share || candidate.value("threads") > 128 ||
                 candidate.value("vector_bytes") < vector_bytes_choices(problem, spec).back())) {
    return false;
  }
  if (candidate.value("threads_per_sm") != 0 && !shares && shape.affine_registers > 0) return false;
  const int threads_per_sm = candidate.value("threads_per_sm");
  const std::int64_t needed = rows_per_group * shape.x_registers +
                              (threads_per_sm > 0 ? capped_registers(problem) : working_registers);
  // Half of the registers at the most, so that at least four warps per scheduler are resident.
  const int threads = std::max({candidate.value("threads"), 512, threads_per_sm});
  return needed <= registers_max(threads, spec);
}

Launch sub_warp_launch(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  return one_turn(
      candidate.value("threads"), rows_per_block(candidate),
      candidate.value("affine_shared") != 0 ? static_cast<int>(affine_bytes(problem)) : 0);
}

Plan sub_warp_plan(const Candidate& candidate, const Problem& problem, const DeviceSpec&) {
  const SliceShape shape = sub_warp_shape(candidate, problem);
  const int rows_per_group = candidate.value("rows_per_group");
  const bool shares = candidate.value("affine_shared") != 0;
  const double steps = std::countr_zero(static_cast<unsigned>(candidate.value("lanes_per_row")));
  const double in_flight = static_cast<double>(rows_per_group * shape.packs) *
                           candidate.value("vector_bytes") * candidate.value("threads");
  const double elements = static_cast<double>(shape.elements() * rows_per_group);
  const double wanted = 24 + (shares ? 1.9 : 2.6) * elements;
  const int threads_per_sm = candidate.value("threads_per_sm");
  const double given = threads_per_sm > 0 ? 65536.0 / threads_per_sm : 255;
  return {.registers = static_cast<int>(std::min(wanted, given)),
          .bytes_in_flight = in_flight,
          .chain_cycles =
              steps * shuffle_cycles + element_cycles * elements + (shares ? barrier_cycles : 0),
          .memory_trips = 1.0,
          .element_instructions = element_instructions(shape.pack) + 60 / elements +
                                  (shares ? 0 : 2) + std::max(0.0, 8 * (wanted / given - 1.5)),
          .independent = candidate.value("threads") / 32.0};
}

bool sub_warp_pays(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const int threads = candidate.value("threads");
  const std::int64_t rows = rows_per_block(candidate);
  if (!x_evict_last_pays(candidate, problem, spec)) return false;
  if (threads > threads_least && rows > problem.rows) return false;
  if (candidate.value("rows_per_group") > 1 && !fills_device(problem.rows / rows, spec)) {
    return false;
  }
  return candidate.value("threads_per_sm") == 0 ||
         fills_schedulers(problem.rows / rows * threads, spec);
}

}  // namespace

Template sub_warp_template() {
  return {.name = "sub_warp",
          .summary = "1 to 32 lanes own a row, held in registers; narrow rows, no barrier",
          .text = kernel_text("sub_warp.cuh"),
          .grade = Grade::exact,
          .axes = sub_warp_axes,
          .fits = sub_warp_fits,
          .launch = sub_warp_launch,
          .plan = sub_warp_plan,
          .pays = sub_warp_pays,
          .bytes_moved = useful_bytes,
          .sequential_adds = no_sequential_adds};
}

}  // namespace normd
