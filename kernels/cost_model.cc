#include "kernels/cost_model.h"

#include <algorithm>
#include <cmath>

#include "kernels/catalog.h"
#include "kernels/slice_shape.h"

namespace normd {
namespace {

// Typical of data-centre chips from Ampere on; only ratios matter for the order.
constexpr double memory_latency_ns = 650;
constexpr double l2_latency_ns = 300;
constexpr double block_start_ns = 100;  // from one block's end until the next asks for data
// Of what should hide behind the bottleneck this share shows; more of it where one block works
// alone, for it reads, adds up and writes one after the other. Both fitted to
// bench/results/trials-h200.csv.
constexpr double overlap_loss_min = 0.05;
constexpr double overlap_loss_alone = 0.15;
constexpr double issues_per_cycle = 4;  // warp instructions per multiprocessor

double memory_rate(const DeviceSpec& spec) {
  const double rate = spec.memory_bytes_per_ns();
  return rate > 0 ? rate : 100.0;  // a host device does not say
}

// Registers are given out to warps in steps of eight per thread.
int resident_blocks(const Launch& launch, const Plan& plan, const DeviceSpec& spec) {
  const int registers = (plan.registers + 7) / 8 * 8;
  int blocks = std::min(spec.blocks_per_sm_max, spec.threads_per_sm_max / launch.block);
  blocks = std::min(blocks, spec.registers_per_sm / (registers * launch.block));
  if (launch.shared_bytes > 0) {
    blocks = std::min(blocks, spec.shared_bytes_per_sm / launch.shared_bytes);
  }
  return std::max(1, blocks);
}

}  // namespace

double copy_limit_ns(const Problem& problem, const DeviceSpec& spec) {
  return useful_bytes(problem) / memory_rate(spec);
}

double estimated_ns(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const Template& entry = template_of(candidate);
  const Launch launch = entry.launch(candidate, problem, spec);
  const Plan plan = entry.plan(candidate, problem, spec);
  const double bytes = entry.bytes_moved(problem);
  const double sm_count = std::max(1, spec.sm_count);
  const double clock_ghz = spec.sm_clock_mhz > 0 ? spec.sm_clock_mhz / 1000.0 : 1.0;
  const bool in_l2 = bytes < static_cast<double>(spec.l2_bytes) / 2;
  const double latency_ns = in_l2 ? l2_latency_ns : memory_latency_ns;
  // The cache delivers about twice the memory's rate.
  const double rate = in_l2 ? 2 * memory_rate(spec) : memory_rate(spec);

  const auto grid =
      static_cast<double>(std::max<std::int64_t>(1, grid_blocks(launch, problem.rows)));
  const double resident = resident_blocks(launch, plan, spec);
  // Blocks that stay go from row to row; others make room for the next.
  const double rows_at_once =
      grid / launch.blocks_per_row * static_cast<double>(launch.rows_per_block);
  const double turns = std::ceil(static_cast<double>(problem.rows) / rows_at_once);
  const double waves = launch.resident ? turns : std::ceil(grid / (resident * sm_count));
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  // The busiest multiprocessor's blocks, and how many of them it works on at once.
  const double busiest = std::ceil(grid / sm_count);
  const double at_once = std::min(resident, busiest);

  // No more can be in flight than the multiprocessor's share of x.
  const double needed_in_flight = rate * latency_ns / sm_count;
  const double x_bytes = elements * static_cast<double>(size_bytes(problem.x)) * busiest / grid;
  const double in_flight = std::min(at_once * plan.bytes_in_flight, x_bytes);
  const double share = std::clamp(in_flight / needed_in_flight, 0.01, 1.0);
  const double imbalance =
      launch.resident
          ? turns * rows_at_once / static_cast<double>(std::max<std::int64_t>(1, problem.rows))
          : busiest * sm_count / grid;
  // gamma and beta come to a multiprocessor once, of each block its own columns.
  const double affine_bytes =
      static_cast<double>(bytes_of(problem.columns, problem.gamma) +
                          bytes_of(problem.columns, problem.beta)) *
      std::min(grid, sm_count) / launch.blocks_per_row;
  const double transfer_ns = (bytes + affine_bytes) * imbalance / (rate * share);

  const double issue_ns = elements * imbalance * plan.element_instructions /
                          (32 * issues_per_cycle * clock_ghz * sm_count);
  const double chain_ns =
      latency_ns * plan.memory_trips + plan.chain_cycles / clock_ghz + block_start_ns;
  // One of the three is the bottleneck; a part of the others always shows beside it.
  const double whole = std::max({transfer_ns, issue_ns, waves * chain_ns});
  const double sum = transfer_ns + issue_ns + waves * chain_ns;
  const double loss =
      std::clamp(overlap_loss_alone / (at_once * plan.independent), overlap_loss_min, 1.0);
  return whole + loss * (sum - whole) + chain_ns;
}

}  // namespace normd
