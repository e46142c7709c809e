// cluster_pipeline: `cluster` blocks own a row, each a part of it, and tell each other the moments
// of their parts through distributed shared memory; the pipeline is part_pipeline.cuh's. No more
// blocks run than fit the device, and each goes from row to row: every n-th, or with `tickets`, for
// many rows, the next that nobody has. Per row: one reduction and one exchange of (mean, squares)
// between the blocks, each a barrier of the group alone. For rows wider than one block holds well,
// and one block a row where x and y about fill the L2 cache.
#include "cluster_moments.cuh"
#include "part_pipeline.cuh"
#include "row_tickets.cuh"

namespace normd {

static_assert(tickets == 0 || cluster > 1, "they come along with the moments");

struct ClusterExchange {
  static constexpr int blocks = cluster;
  static constexpr bool affine_held = normd::affine_held != 0;
  static constexpr int registers = 16;
  using Part = RowPart<cluster, row_columns / cluster>;

  using Area = PartMessages<cluster, Part::columns_max>;

  const NormArguments& arguments;
  Part part;
  int member;
  Area& area;
  float ticket = 0.0f;  // its bits

  NORMD_DEVICE ClusterExchange(const NormArguments& of, const Part& of_block, int, int of_group,
                               Area& place)
      : arguments(of), part(of_block), member(of_group), area(place) {}

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
    if (turns == 0) end();
  }

  // The ticket is on its way while the row is waited for, and goes to the other blocks with its
  // moments. Who has no row after this needs none; later() then tells nothing.
  NORMD_DEVICE void ask(bool more) {
    if (!more) {
      end();
    } else if (takes_tickets()) {
      ticket = bits_to_float(row_tickets().take());
    }
  }
  NORMD_DEVICE long long later(long long next, long long step, unsigned turn) const {
    if constexpr (tickets == 0) return next + step;
    return 2 * step + float_to_bits(area.note(turn));  // the first two rows of all need none
  }

  NORMD_DEVICE RowMoments combine(const Moments& own, unsigned turn,
                                  const GroupBarrier<group_threads>&, float epsilon) const {
    if constexpr (cluster == 1) {
      return row_moments(own, epsilon);
    } else {
      if (turn == 0) cluster_wait();
      float note = 0.0f;
      if (tickets != 0 && part.rank == 0 && member < warp_lanes) note = shuffle_from(ticket, 0);
      return row_moments(area.exchange(own, part.rank, member, member == 0, turn, note), epsilon);
    }
  }

 private:
  NORMD_DEVICE void end() const {
    if (takes_tickets()) row_tickets().end(grid_blocks() / cluster * rows_per_block);
  }
  NORMD_DEVICE RowTickets& row_tickets() const {
    return *static_cast<RowTickets*>(arguments.workspace);
  }
  NORMD_DEVICE bool takes_tickets() const {
    return tickets != 0 && part.rank == 0 && member == 0;
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  work_on_parts<ClusterExchange>(arguments);
}

}  // namespace normd
