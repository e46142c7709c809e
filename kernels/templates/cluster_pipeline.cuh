// cluster_pipeline: `cluster` blocks own a row, each a part of it, and tell each other the moments
// of their parts through distributed shared memory; the pipeline is part_pipeline.cuh's. No more
// blocks run than fit the device, and each goes from row to row. Per row: one reduction and one
// exchange of (mean, squares) between the blocks, each a barrier of the group alone. For rows wider
// than one block holds well.
#include "cluster_moments.cuh"
#include "part_pipeline.cuh"

namespace normd {

struct ClusterExchange {
  static constexpr int blocks = cluster;
  static constexpr int registers = 16;
  using Part = RowPart<cluster, row_columns / cluster>;

  using Area = PartMessages<cluster, Part::columns_max>;

  Part part;
  int member;
  Area& area;

  NORMD_DEVICE ClusterExchange(const NormArguments&, const Part& of, int, int of_group, Area& place)
      : part(of), member(of_group), area(place) {}

  NORMD_DEVICE void begin() const { area.begin(); }
  NORMD_DEVICE void expect() const {
    if constexpr (cluster > 1) area.expect();
  }

  // Blocks may write to each other once all have come here.
  NORMD_DEVICE void enter() const {
    if constexpr (cluster > 1) cluster_arrive();
  }
  NORMD_DEVICE void leave(unsigned turns) const {
    if (cluster > 1 && turns == 0) cluster_wait();
  }

  NORMD_DEVICE RowMoments combine(const Moments& own, unsigned turn,
                                  const GroupBarrier<group_threads>&, float epsilon) const {
    if constexpr (cluster == 1) {
      return row_moments(own, epsilon);
    } else {
      if (turn == 0) cluster_wait();
      return row_moments(area.exchange(own, part.rank, member, member == 0, turn), epsilon);
    }
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  work_on_parts<ClusterExchange>(arguments);
}

}  // namespace normd
