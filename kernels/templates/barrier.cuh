// Who waits for whom between two steps that several warps take together.
#pragma once

namespace normd {

struct BlockBarrier {
  NORMD_DEVICE void wait() const { block_barrier(); }
};

// Of the `threads` threads of one of a block's groups, 0 to 14, alone; a group may be the block.
template <int threads>
struct GroupBarrier {
  int group;
  NORMD_DEVICE void wait() const {
    if constexpr (threads == warp_lanes) {
      warp_barrier();
    } else if constexpr (threads == block_threads) {
      block_barrier();
    } else {
      group_barrier<threads>(group);
    }
  }
};

}  // namespace normd
