// cluster_pipeline: `cluster` blocks own a row, each a part of it; `rows_per_block` groups of warps
// work on a row each, out of step with one another. While a group works on its part in registers,
// its part of the next row comes into shared memory by one bulk copy; gamma and beta of the part
// lie in shared memory throughout. No more blocks run than fit the device, and each goes from row
// to row. Per row: a sum, the sums of the deviations and their squares, and one exchange of (mean,
// squares) between the blocks, each a barrier of the group alone. For rows wider than one block
// holds well; hi/lo two-pass per part, parts put together as Chan, Golub and LeVeque do (1983),
// with means kept as a high and a low part.
#include "cluster.cuh"
#include "row_reduce.cuh"
#include "row_slice.cuh"

namespace normd {

constexpr int part_columns = row_columns / cluster;
constexpr int part_bytes = part_columns * static_cast<int>(sizeof(x_type));
constexpr int gamma_bytes = has_gamma ? part_columns * static_cast<int>(sizeof(gamma_type)) : 0;
constexpr int beta_bytes = has_beta ? part_columns * static_cast<int>(sizeof(beta_type)) : 0;
constexpr int affine_bytes = gamma_bytes + beta_bytes;
constexpr int group_threads = block_threads / rows_per_block;
constexpr int group_warps = group_threads / warp_lanes;

static_assert(group_warps * warp_lanes * rows_per_block == block_threads, "as the Launch says");
static_assert(part_columns * cluster == row_columns, "parts of one width");
static_assert(part_bytes % 16 == 0 && gamma_bytes % 16 == 0 && beta_bytes % 16 == 0, "bulk copies");

using PartSlice = Slice<group_threads, part_columns>;
using PartScratch = RowScratch<group_warps, 2, GroupBarrier<group_threads>>;

// What a group of warps keeps in shared memory beside its part of x.
struct GroupArea {
  Message moments[2]
                 [cluster];  // of the parts of this row and of the next: mean, its error, squares
  fp32 sums[larger_of(4, PartScratch::row_floats)];
  Arrival x;
  Arrival moments_came[2];
};

static_assert(shared_bytes == affine_bytes + rows_per_block * part_bytes +
                                  rows_per_block * static_cast<int>(sizeof(GroupArea)) + 16,
              "as the Launch says");

// gamma, beta, the parts of x, the areas, and the arrival of gamma and beta.
NORMD_DEVICE unsigned char* shared_at(int offset) {
  return shared_memory<unsigned char>() + offset;
}
NORMD_DEVICE x_type* x_part(int group) {
  return reinterpret_cast<x_type*>(shared_at(affine_bytes + group * part_bytes));
}
NORMD_DEVICE GroupArea& group_area(int group) {
  constexpr int begin = affine_bytes + rows_per_block * part_bytes;
  return reinterpret_cast<GroupArea*>(shared_at(begin))[group];
}
NORMD_DEVICE Arrival* affine_came() {
  return reinterpret_cast<Arrival*>(&group_area(rows_per_block));
}

// gamma and beta of a slice, out of shared memory.
struct SharedAffine {
  NORMD_DEVICE void apply(const PartSlice& slice, int i, float (&values)[pack]) const {
    Pack<gamma_type, pack> gamma;
    Pack<beta_type, pack> beta;
    if constexpr (has_gamma) {
      gamma = load_shared_here<gamma_type, pack>(reinterpret_cast<const gamma_type*>(shared_at(0)) +
                                                 slice.column(i));
    }
    if constexpr (has_beta) {
      beta = load_shared_here<beta_type, pack>(
          reinterpret_cast<const beta_type*>(shared_at(gamma_bytes)) + slice.column(i));
    }
    apply_packs(gamma, beta, values);
  }
};

NORMD_DEVICE void fetch_affine(const NormArguments& arguments, int rank) {
  if constexpr (affine_bytes > 0) {
    arrival_expect(affine_came(), affine_bytes);
    if constexpr (has_gamma) {
      bulk_copy(shared_at(0), static_cast<const gamma_type*>(arguments.gamma) + rank * part_columns,
                gamma_bytes, affine_came());
    }
    if constexpr (has_beta) {
      bulk_copy(shared_at(gamma_bytes),
                static_cast<const beta_type*>(arguments.beta) + rank * part_columns, beta_bytes,
                affine_came());
    }
  }
}

NORMD_DEVICE void fetch_x(const NormArguments& arguments, long long row, int rank, int group) {
  arrival_expect(&group_area(group).x, part_bytes);
  bulk_copy(x_part(group), x_row(arguments, row) + rank * part_columns, part_bytes,
            &group_area(group).x);
}

NORMD_DEVICE void load_part(const PartSlice& slice, const x_type* part, PartSlice::Packs& x) {
#pragma unroll
  for (int i = 0; i < PartSlice::packs; ++i) {
    if (slice.owns(i)) {
      x[i] = load_shared_here<x_type, pack>(part + slice.column(i));
    } else {
      x[i] = Pack<x_type, pack>{};
    }
  }
}

// A part's own moments: its mean as a float and what that is off by, and the squares about it.
struct PartMoments {
  float mean;
  float correction;
  float squares;
};

// `part` of the whole row; `noise`: what the float means that it was found with were off by.
NORMD_DEVICE RowMoments row_of(const PartMoments& part, float noise, float epsilon) {
  const float raw = divide_by_columns(part.squares);
  const float variance = raw < 0.0f ? 0.0f : raw;  // NaN stays
  const float v = variance + epsilon;
  return {part.mean, part.correction, reciprocal_sqrt(v), needs_rescue(variance, noise, v)};
}

// Every block of the cluster comes to the same numbers, in the same order of additions.
NORMD_DEVICE RowMoments exchange(const PartMoments& part, int rank, const PartSlice& slice,
                                 GroupArea& area, unsigned turn, float epsilon) {
  const int side = static_cast<int>(turn & 1u);
  if (slice.member < cluster) {
    send_message(slice.member, &area.moments[side][rank],
                 Message{{part.mean, part.correction, part.squares, 0.0f}},
                 &area.moments_came[side]);
  }
  arrival_wait(&area.moments_came[side], (turn >> 1) & 1u);
  const Message theirs = area.moments[side][thread_index() % cluster];
  const float base = area.moments[side][0].value[0];
  // The next use of this side waits for the one of the other, which comes after everybody's read.
  if (slice.member == 0) {
    arrival_expect(&area.moments_came[side], cluster * static_cast<int>(sizeof(Message)));
  }
  const float distance = (theirs.value[0] - base) + theirs.value[1];
  const float mean_distance = lanes_sum<cluster>(distance) * (1.0f / cluster);
  const float off = distance - mean_distance;
  float sums[2] = {fused_multiply_add(off * static_cast<float>(part_columns), off, theirs.value[2]),
                   theirs.value[1] < 0.0f ? -theirs.value[1] : theirs.value[1]};
  lanes_sums<cluster>(sums);
  // The mean as a float and what that float is off by, whichever of the two is larger.
  const float mean = base + mean_distance;
  const float of_distance = mean - base;
  const float correction = (base - (mean - of_distance)) + (mean_distance - of_distance);
  return row_of({mean, correction, sums[0]}, sums[1] * (1.0f / cluster), epsilon);
}

NORMD_DEVICE PartMoments part_moments(const PartSlice& slice, PartSlice::Packs& x,
                                      const PartScratch& scratch, float mean) {
  float deviation_sum;
  float square_sum;
  slice.deviations(x, mean, deviation_sum, square_sum);
  scratch.sum_pair(deviation_sum, square_sum);
  const float correction = deviation_sum * (1.0f / part_columns);
  return {mean, correction, fused_multiply_add(-deviation_sum, correction, square_sum)};
}

// By the leader of each group: the first row, gamma and beta are under way before anything else.
NORMD_DEVICE void begin(const NormArguments& arguments, GroupArea& area, int group, int rank,
                        long long first) {
  arrival_begin(&area.x);
  arrival_begin(&area.moments_came[0]);
  arrival_begin(&area.moments_came[1]);
  if (group == 0) arrival_begin(affine_came());
  publish_arrivals();
  if (first < arguments.rows) fetch_x(arguments, first, rank, group);
  if (group == 0) fetch_affine(arguments, rank);
  if constexpr (cluster > 1) {
    arrival_expect(&area.moments_came[0], cluster * static_cast<int>(sizeof(Message)));
    arrival_expect(&area.moments_came[1], cluster * static_cast<int>(sizeof(Message)));
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  constexpr int as_floats = PartSlice::packs * pack + other_registers;
  const int group = thread_index() / group_threads;
  const int rank = static_cast<int>(block_index() % cluster);
  const PartSlice slice{thread_index() % group_threads};
  GroupArea& area = group_area(group);
  const PartScratch scratch(area.sums, slice.member / warp_lanes, {group});
  const bool leader = slice.member == 0;
  const long long rows = arguments.rows;
  const long long step = grid_blocks() / cluster * rows_per_block;
  const long long first = block_index() / cluster * rows_per_block + group;

  if (leader) begin(arguments, area, group, rank, first);
  // Blocks may write to each other once all have come here; the first row is under way meanwhile.
  if constexpr (cluster > 1) cluster_arrive();
  block_barrier();

  unsigned turn = 0;
  for (long long row = first; row < rows; row += step, ++turn) {
    typename PartSlice::Packs x;
    arrival_wait(&area.x, turn & 1u);
    load_part(slice, x_part(group), x);
    const float mean = scratch.sum(slice.sum(x)) * (1.0f / part_columns);
    // Past the barrier of that sum, everybody has read the part.
    if (leader && row + step < rows) fetch_x(arguments, row + step, rank, group);
    slice.template keep<as_floats, registers_for(blocks_per_sm)>(x);
    const PartMoments part = part_moments(slice, x, scratch, mean);
    if (cluster > 1 && turn == 0) cluster_wait();
    RowMoments moments;
    if constexpr (cluster > 1) {
      moments = exchange(part, rank, slice, area, turn, arguments.epsilon);
    } else {
      moments = row_of(part, part.correction, arguments.epsilon);
    }
    slice.template keep<as_floats, registers_for(blocks_per_sm)>(x);
    if (turn == 0 && affine_bytes > 0) arrival_wait(affine_came(), 0);
    if (moments.rescue) {
      // The first warp of the row's first block goes alone: all others have read their parts.
      if (rank == 0 && slice.member < warp_lanes) {
        rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
      }
    } else {
      slice.template store<Hint::normal>(x, moments, SharedAffine{},
                                         y_row(arguments, row) + rank * part_columns);
      if (rank == 0 && leader) store_statistics(arguments, row, moments);
    }
  }
  if (cluster > 1 && turn == 0) cluster_wait();
}

}  // namespace normd
