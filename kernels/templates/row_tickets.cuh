// RowTickets: how groups that stay share out rows by who comes first. Multiprocessors are not all
// equally fast at memory: of groups that have every n-th row each, the slowest decides when a
// launch ends. Lies in the workspace; zeroes are a good beginning, and what each launch leaves.
#pragma once

#include "grid.cuh"

namespace normd {

struct RowTickets {
  static constexpr int bytes_max = 64;  // of all that a launch has, as its workspace_bytes say

  // Tickets that were taken, and in the upper half groups that take no more: in one word, so that
  // all see a group's end after its tickets. Two words would need a fence between them, which waits
  // for all that a thread has asked of memory.
  unsigned long long counts;

  NORMD_DEVICE unsigned take() { return static_cast<unsigned>(count_up(&counts, 1)); }

  // By each of the `groups` of a launch, once, after it has asked for its last ticket.
  NORMD_DEVICE void end(unsigned groups) {
    constexpr unsigned long long one = 1ull << 32;
    if (static_cast<unsigned>(count_up(&counts, one) / one) + 1 == groups) {
      leave_to_next(&counts, 0ull);
    }
  }
};

}  // namespace normd
