// grid_pipeline: `blocks_per_row` blocks own a row, any number of them and anywhere on the device:
// all of the grid run at once, and each keeps its part of the columns from row to row. They tell
// each other the moments of their parts through global memory, where each posts sixteen bytes for
// all others to take; the pipeline is part_pipeline.cuh's. Per row: one reduction and one
// exchange of (mean, squares), which a group's first warp takes part in while other groups of the
// block are in other steps. For very wide rows, which then
// use every multiprocessor alike, and for few wide rows.
//
// A mailbox has two sides in turn. Who posts for one turn has taken everything of the turn before,
// which everybody posted after taking what lay on this side. Turns are counted on from launch to
// launch in the workspace, so that no message of an earlier launch is taken for one of this; the
// first block of a row notes them when it leaves, long after the others have read the count.
#include "grid.cuh"
#include "part_pipeline.cuh"

namespace normd {

struct GridExchange {
  static constexpr int blocks = blocks_per_row;
  static constexpr int held = (blocks + warp_lanes - 1) / warp_lanes;  // messages of a lane
  static constexpr bool affine_held = false;
  static constexpr int registers = 16;
  // Parts begin on sectors of memory where the widths allow it, else where bulk copies may.
  static constexpr int narrowest =
      smaller_of(static_cast<int>(sizeof(x_type)),
                 smaller_of(has_gamma ? static_cast<int>(sizeof(gamma_type)) : 4,
                            has_beta ? static_cast<int>(sizeof(beta_type)) : 4));
  static constexpr int unit = (row_columns * narrowest % 32 == 0 ? 32 : 16) / narrowest;
  using Part = RowPart<blocks, unit>;

  struct Area {
    Message row;  // mean, what it is off by, squares
  };

  // Of the groups of one number in the blocks of a row.
  struct alignas(64) Mailbox {
    Posted side[2][blocks];
    unsigned turns;  // that these groups have had, modulo 2^32
  };

  Part part;
  int member;
  Area& area;
  Mailbox& mailbox;
  unsigned turns_before;

  NORMD_DEVICE GridExchange(const NormArguments& arguments, const Part& of, int group, int of_group,
                            Area& place)
      : part(of),
        member(of_group),
        area(place),
        mailbox(static_cast<Mailbox*>(
            arguments.workspace)[block_index() / blocks * rows_per_block + group]),
        turns_before(0) {}

  NORMD_DEVICE void ask(bool) const {}
  NORMD_DEVICE long long later(long long next, long long step, unsigned) const {
    return next + step;
  }
  NORMD_DEVICE void begin() const {}
  NORMD_DEVICE void expect() const {}
  NORMD_DEVICE void enter() {
    if (member < warp_lanes) turns_before = load_left(&mailbox.turns);
  }
  NORMD_DEVICE void leave(unsigned turns) const {
    if (part.rank == 0 && member == 0) leave_to_next(&mailbox.turns, turns_before + turns);
  }

  NORMD_DEVICE RowMoments combine(const Moments& own, unsigned turn,
                                  const GroupBarrier<group_threads>& barrier, float epsilon) const {
    Message row;
    if (member < warp_lanes) {
      const unsigned tag = turns_before + turn + 1u;  // never that of an empty place
      Posted* side = mailbox.side[tag & 1u];
      if (member == 0) post(&side[part.rank], {{own.mean, own.correction, own.squares}, tag});
      row = put_together(side, tag);
      if (group_warps > 1 && member == 0) area.row = row;
    }
    if constexpr (group_warps > 1) {
      // Written again after the barrier of the next row's sums.
      barrier.wait();
      row = area.row;
    }
    return row_moments({row.value[0], row.value[1], row.value[2]}, epsilon);
  }

  // Every block of the row comes to the same numbers, in the same order of additions.
  static NORMD_DEVICE Message put_together(const Posted* side, unsigned tag) {
    Posted theirs[held] = {};
    take_posted<blocks>(side, tag, theirs);
    const float base = shuffle_from(theirs[0].value[0], 0);
    float distance[held];
    float weight[held];
    float distance_sum = 0.0f;
#pragma unroll
    for (int i = 0; i < held; ++i) {
      const int rank = thread_index() % warp_lanes + i * warp_lanes;
      weight[i] = rank < blocks ? static_cast<float>(Part::columns_of(rank)) : 0.0f;
      distance[i] = (theirs[i].value[0] - base) + theirs[i].value[1];
      distance_sum = fused_multiply_add(weight[i], distance[i], distance_sum);
    }
    const float mean_distance = divide_by_columns(lanes_sum<warp_lanes>(distance_sum));
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < held; ++i) {
      const float off = distance[i] - mean_distance;
      squares += fused_multiply_add(off * weight[i], off, theirs[i].value[2]);
    }
    const Moments row = about(base, mean_distance, lanes_sum<warp_lanes>(squares));
    return {{row.mean, row.correction, row.squares}};
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  work_on_parts<GridExchange>(arguments);
}

}  // namespace normd
