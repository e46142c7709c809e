// CompareArguments: what the comparing kernel (templates/compare_bytes.cuh) takes. Compiled by host
// code and by the kernel text alike; includes nothing.
#pragma once

namespace normd {

// `rows` rows of `row_bytes` bytes at `got`, which ought to be those at `wanted`. All of it, the
// addresses too, is in whole steps of `step_bytes`, which is 2 or 16.
struct CompareArguments {
  const void* got;
  const void* wanted;
  long long* differences;     // one per block: the lowest byte that differs, counted without gaps
                              // between rows; -1: none
  long long rows;
  long long row_bytes;
  long long got_stride;       // bytes from row to row
  long long wanted_stride;
  long long wanted_bytes;     // after so many bytes `wanted` begins again; 0: never
  int step_bytes;
  int unused;
};

// Steps that a block takes at a time.
constexpr int compare_steps = 4096;

static_assert(sizeof(CompareArguments) == 72, "the layout is shared with kernel texts");

}  // namespace normd
