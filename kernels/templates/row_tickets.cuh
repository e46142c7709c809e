// RowTickets: how groups that stay share out rows by who comes first. Multiprocessors are not all
// equally fast at memory: of groups that have every n-th row each, the slowest decides when a
// launch ends. Lies in the workspace; zeroes are a good beginning, and what each launch leaves.
#pragma once

#include "grid.cuh"

namespace normd {

struct RowTickets {
  static constexpr int bytes_max = 64;  // of all that a launch has, as its workspace_bytes say

  unsigned taken;
  unsigned ended;  // groups that take no more

  NORMD_DEVICE unsigned take() { return count_up<false>(&taken); }

  // By each of the `groups` of a launch, once, after it has had its last ticket.
  NORMD_DEVICE void end(unsigned groups) {
    if (count_up<true>(&ended) + 1 != groups) return;
    leave_to_next(&taken, 0);
    leave_to_next(&ended, 0);
  }
};

}  // namespace normd
