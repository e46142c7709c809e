// Who waits for whom between two steps that several warps take together.
#pragma once

namespace normd {

struct BlockBarrier {
  NORMD_DEVICE void wait() const { block_barrier(); }
};

// Of the `threads` threads of one of a block's groups, 0 to 14, alone.
template <int threads>
struct GroupBarrier {
  int group;
  NORMD_DEVICE void wait() const { group_barrier<threads>(group); }
};

}  // namespace normd
