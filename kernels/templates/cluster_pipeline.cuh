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

  struct Area {
    Message moments[2][cluster];  // of the parts of this row and of the next
    Arrival came[2];
  };

  Part part;
  int member;
  Area& area;

  NORMD_DEVICE ClusterExchange(const NormArguments&, const Part& of, int, int of_group, Area& place)
      : part(of), member(of_group), area(place) {}

  NORMD_DEVICE void begin() const {
    arrival_begin(&area.came[0]);
    arrival_begin(&area.came[1]);
  }
  NORMD_DEVICE void expect(int side) const {
    arrival_expect(&area.came[side], cluster * static_cast<int>(sizeof(Message)));
  }
  NORMD_DEVICE void expect() const {
    if constexpr (cluster > 1) {
      expect(0);
      expect(1);
    }
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
      return exchange(own, turn, epsilon);
    }
  }

  // Every block of the cluster comes to the same numbers, in the same order of additions.
  NORMD_DEVICE RowMoments exchange(const Moments& own, unsigned turn, float epsilon) const {
    const int side = static_cast<int>(turn & 1u);
    if (member < cluster) {
      send_message(member, &area.moments[side][part.rank],
                   message_of(own), &area.came[side]);
    }
    arrival_wait(&area.came[side], (turn >> 1) & 1u);
    const Moments of_row =
        moments_of_parts<cluster, Part::columns_max>(area.moments[side]);
    // The next use of this side waits for the one of the other, which comes after everybody's read.
    if (member == 0) expect(side);
    return row_moments(of_row, epsilon);
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  work_on_parts<ClusterExchange>(arguments);
}

}  // namespace normd
