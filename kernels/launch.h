// Launch: how a kernel is launched, as data. The grid follows from it and the row count alone, so
// that a Kernel can be sent to another process and launched there. Plain value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"

namespace normd {

inline constexpr int workspace_align_bytes = 64;

struct Launch {
  std::vector<std::string> entries;  // kernels launched one after the other, usually one
  int block = 0;                     // threads per block, one-dimensional
  int cluster = 1;                   // blocks per thread-block cluster
  int shared_bytes = 0;              // dynamic shared memory per block
  bool cooperative = false;          // all blocks resident at once
  // Every kernel begins by waiting for what its stream has ahead of it, so the device may be told
  // to start blocks while that still runs (programmatic dependent launch).
  bool programmatic = false;
  std::int64_t rows_per_block = 1;  // rows that one block (or one group of blocks) owns at a time
  int blocks_per_row = 1;           // blocks that share the rows_per_block rows
  bool resident = false;  // no more blocks than fit the device at once: each strides over rows
  // Whether blocks go on to the rows that a full grid leaves; else grids must cover all rows.
  bool strides = true;
  std::int64_t blocks_max = 2147483647;  // of a grid; never above 2^31 - 1
  // Scratch in device memory, on workspace_align_bytes: zero before the first launch, and from then
  // on as the launch before left it, whatever its rows. One per kernel and stream: none is
  // touched by two launches at a time.
  std::int64_t workspace_bytes = 0;
  std::int64_t workspace_bytes_per_row = 0;

  bool operator==(const Launch&) const = default;
};

// Blocks of the one-dimensional grid for `rows` rows; 0 when there is nothing to launch.
std::int64_t grid_blocks(const Launch& launch, std::int64_t rows);

// An error of code invalid_argument where a grid would leave rows out.
Result<void> covers(const Launch& launch, std::int64_t rows);

// Bytes of the scratch for that many rows.
std::size_t workspace_bytes(const Launch& launch, std::int64_t rows);

// `entries=normd_kernel block=256 cluster=1 ...` for the trial process and the database.
std::string to_text(const Launch& launch);
Result<Launch> parse_launch(std::string_view text);

}  // namespace normd
