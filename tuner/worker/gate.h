// The gate before the clock: no candidate is timed, stored or served before its output has matched
// the float64 reference on hard data, again with the same bits on the whole grid, on a few blocks
// and in place, with guards, gaps and inputs untouched, and where rows lie beyond 32 bits. Belongs
// to its Device's thread.
#pragma once

#include <vector>

#include "tuner/device/device.h"
#include "tuner/trial.h"
#include "tuner/worker/far_rows.h"
#include "tuner/worker/workload.h"

namespace normd {

// Rows for the `kinds` workload of a problem: enough for two waves of small blocks and a partial
// one, few enough to cost little. Never less than three, so that a row
// has neighbours; where that leaves too few for all kinds, the workload has several layings.
std::int64_t kinds_rows(const Problem& problem, const DeviceSpec& spec);

struct GateParts {
  Device* device = nullptr;
  Kernel* checker = nullptr;  // check_rows
  Workload* kinds = nullptr;
  std::vector<std::int64_t> sized_rows;      // the bucket's measured rows
  Workload* sized = nullptr;                 // holds at least the largest of them
  FarRows* far = nullptr;                    // null: rows are contiguous, or the device has none
  const GuardedMemory* workspace = nullptr;  // the candidate's, zeroed; null where it needs none
};

// The launch of a candidate on so few blocks that each takes several rows in turn, over what the
// row before has left in shared memory; as it is where blocks do not stride. Its bits must be those
// of the whole grid.
Launch few_blocks(const Launch& launch, std::int64_t rows);

// `on_few_blocks` is the same binary loaded with that launch, for the rows of `kinds`; null where
// blocks do not stride.
// kind `measured` (without measurements) when everything holds; else `refused` with the first
// reason, or `not_tried` when memory or the device failed for outside reasons.
Verdict run_gate(const GateParts& parts, Kernel& kernel, Kernel* on_few_blocks,
                 const Tolerance& tolerance);

}  // namespace normd
