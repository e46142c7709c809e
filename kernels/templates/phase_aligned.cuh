// phase_aligned: rows that do not start on 16 bytes, because of their width or because the tensor
// does not. Such a row is some elements up to the first aligned pack, aligned packs, and some
// elements behind the last. Every `phases`-th row begins alike: a block takes rows of one phase
// only, and has gamma and beta in shared memory shifted as these rows are, so that all meet pack by
// pack. `groups` groups of warps go from row to row, each in registers, with one reduction per row;
// of the elements before and behind the packs, each of a group's last threads has one. Where y lies
// otherwise than x, neighbours put together what an access of y takes.
#include "realigned.cuh"
#include "row_reduce.cuh"
#include "row_tickets.cuh"

namespace normd {

NORMD_DEVICE constexpr int common_divisor(int a, int b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

constexpr int phases = pack / common_divisor(row_columns, pack);
constexpr int row_threads = block_threads / groups;
constexpr int row_warps = row_threads / warp_lanes;
constexpr int packs_max = row_columns / pack;  // of a row; of some phases one fewer
constexpr int packs_min = (row_columns - (pack - 1)) / pack;
constexpr int packs = (packs_max + row_threads - 1) / row_threads;
constexpr bool begins_aligned = align_bytes >= vector_bytes;  // the first row of x and of y

constexpr int edges = 2 * pack;  // no row has more elements before and behind its packs

using SharedGamma = SharedShifted<gamma_type, packs_max * pack, edges>;
using SharedBeta = SharedShifted<beta_type, packs_max * pack, edges>;
constexpr int gamma_bytes = has_gamma ? SharedGamma::bytes : 0;
constexpr int affine_bytes = gamma_bytes + (has_beta ? SharedBeta::bytes : 0);

using Scratch = RowScratch<row_warps, 2>;

static_assert(row_warps * warp_lanes * groups == block_threads, "as the Launch says");
static_assert(rows_per_block == groups * phases, "as the Launch says");
static_assert(sizeof(x_type) == sizeof(y_type) && rows_contiguous, "y lies behind x all along");
static_assert(phases * sizeof(RowTickets) <= RowTickets::bytes_max, "as the Launch says");
static_assert(edges <= warp_lanes, "a thread for each element before and behind");
constexpr int scratch_bytes = 4 * Scratch::row_floats * groups;
static_assert(shared_bytes == affine_bytes + scratch_bytes + (tickets != 0 ? 8 * groups : 0),
              "as the Launch says");

NORMD_DEVICE gamma_type* shifted_gamma() {
  return shared_memory<gamma_type>();
}
NORMD_DEVICE beta_type* shifted_beta() {
  return reinterpret_cast<beta_type*>(shared_memory<unsigned char>() + gamma_bytes);
}

// What a thread holds of a row.
struct Held {
  Pack<x_type, pack> x[packs];
  x_type edge;  // an element before or behind the packs
};

// The share of one row of each of its threads, the same for all rows of a phase.
struct PhasedSlice {
  int member;
  int lead;    // elements before the first pack
  int count;   // packs of the row
  int column;  // of its element before or behind them, negative for none
  NORMD_DEVICE PhasedSlice(int of_row, int before)
      : member(of_row), lead(before), count((row_columns - before) / pack) {
    column = edge() >= 0 ? edge_column(edge()) : -1;
  }

  // Of the elements before and behind the packs, negative for none.
  NORMD_DEVICE int edge_column(int edge) const {
    const int column = edge < lead ? edge : edge + count * pack;
    return column < row_columns ? column : -1;
  }
  NORMD_DEVICE int edge() const { return member - (row_threads - warp_lanes); }
  NORMD_DEVICE bool owns_edge() const { return column >= 0; }

  NORMD_DEVICE int index(int i) const { return member + i * row_threads; }
  static NORMD_DEVICE constexpr bool always_owns(int i) {
    return (i + 1) * row_threads <= packs_min;
  }
  NORMD_DEVICE bool owns(int i) const { return always_owns(i) || index(i) < count; }

  NORMD_DEVICE void load(const x_type* row, Held& held) const {
    const x_type* const first = row + lead + member * pack;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (owns(i)) {
        held.x[i] =
            load_pack<x_hint_of(x_evict_last), x_type, pack>(first + i * row_threads * pack);
      }
    }
    if (owns_edge()) held.edge = row[column];
  }

  // As Slice has them.
  NORMD_DEVICE void sums(const Held& held, float& sum, float& square_sum) const {
    ChainSums chains_of = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      float values[pack];
      to_floats(held.x[i], values);
#pragma unroll
      for (int k = 0; k < pack; ++k) chains_of.add(k, i == 0, values[k]);
    }
    chains_of.add(0, false, to_float(held.edge));
    sum = chains_total(chains_of.deviation);
    square_sum = chains_total(chains_of.square);
  }
  NORMD_DEVICE void deviations(const Held& held, float value, float& deviation_sum,
                               float& square_sum) const {
    ChainSums chains_of = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      Pack<x_type, pack> again = held.x[i];
      keep_packed(again);
      float values[pack];
      to_floats(again, values);
#pragma unroll
      for (int k = 0; k < pack; ++k) chains_of.add(k, i == 0, owns(i) ? values[k] - value : 0.0f);
    }
    chains_of.add(0, false, owns_edge() ? to_float(held.edge) - value : 0.0f);
    deviation_sum = chains_total(chains_of.deviation);
    square_sum = chains_total(chains_of.square);
  }

  // `y_behind`: elements that a pack of x lies behind where an access may begin, in y.
  template <bool like_x>
  NORMD_DEVICE void store(const Held& held, const RowMoments& moments, y_type* row,
                          int y_behind) const {
    y_type* const first = row + lead + member * pack;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (like_x && !owns(i)) continue;
      float values[pack];
      normalise(held.x[i], moments, values);
      const int at = owns(i) ? index(i) * pack : 0;
      shared_affine_packs(shifted_gamma() + at, shifted_beta() + at).apply(values);
      const Pack<y_type, pack> y = from_floats<y_type>(values);
      y_type* const to = first + i * row_threads * pack;
      if constexpr (like_x) {
        store_pack(to, y);
      } else {
        const bool last = index(i) % warp_lanes == warp_lanes - 1 || index(i) + 1 == count;
        store_behind(to, y, y_behind, owns(i), last);
      }
    }
    if (owns_edge()) row[column] = edge_output(held.edge, moments);
  }

  // As normalise() and AffinePacks have it.
  NORMD_DEVICE y_type edge_output(x_type x, const RowMoments& moments) const {
    float value = fused_multiply_add(to_float(x) - moments.base, moments.rstd, moments.shift);
    if constexpr (has_gamma && has_beta) {
      value = fused_multiply_add(value, edge_of<SharedGamma>(shifted_gamma()),
                                 edge_of<SharedBeta>(shifted_beta()));
    } else if constexpr (has_gamma) {
      value *= edge_of<SharedGamma>(shifted_gamma());
    } else if constexpr (has_beta) {
      value += edge_of<SharedBeta>(shifted_beta());
    }
    return from_float<y_type>(value);
  }
  template <typename Shared, typename T>
  NORMD_DEVICE float edge_of(const T* shared) const {
    return to_float(shared[Shared::edges_at + edge()]);
  }

  // By every thread of the block.
  NORMD_DEVICE void fill_affine(const NormArguments& arguments) const {
    const auto column_of = [this](int edge) { return edge_column(edge); };
    if constexpr (has_gamma) SharedGamma::fill(arguments.gamma, lead, column_of, shifted_gamma());
    if constexpr (has_beta) SharedBeta::fill(arguments.beta, lead, column_of, shifted_beta());
    block_barrier();
  }
};

// Which rows of its phase a group has: every n-th, or with `tickets` the next that nobody has. A
// ticket is on its way while the row before is waited for, and told to the group by way of shared
// memory and the barrier of the row's sums, on two sides in turns.
struct RowsOfGroup {
  RowTickets* of_phase;
  unsigned* told;  // to the group
  long long groups_of_phase;
  bool leads;
  unsigned ticket = 0;
  int side = 0;

  NORMD_DEVICE void ask() {
    if (tickets != 0 && leads) ticket = of_phase->take();
  }
  NORMD_DEVICE void tell() {
    if (tickets != 0 && leads) told[side] = ticket;
    if constexpr (tickets != 0 && row_warps == 1) warp_barrier();  // whose sums take none
  }
  // After that barrier: the row after `row`.
  NORMD_DEVICE long long after(long long row, int phase) {
    if constexpr (tickets == 0) return row + groups_of_phase * phases;
    const long long next = groups_of_phase + told[side];
    side ^= 1;
    return next * phases + phase;
  }
  NORMD_DEVICE void end() {
    if (tickets != 0 && leads) of_phase->end(static_cast<unsigned>(groups_of_phase));
  }
};

// From the first moments on. By one way for all rows: a shorter one for plain rows beside it saved
// less than the registers cost that both take.
template <bool like_x>
NORMD_DEVICE void finish(const NormArguments& arguments, long long row, const PhasedSlice& slice,
                         Held held, const FirstMoments& first, y_type* to, int y_behind_x,
                         Scratch& scratch) {
#pragma unroll
  for (int i = 0; i < packs; ++i) keep_packed(held.x[i]);
  const Moments found = first.near ? first.found
                                   : second_moments_of_slice(slice, held, first.found.correction,
                                                             divisor_of(row_columns), scratch);
  const RowMoments moments = row_moments(found, arguments.epsilon);
  if (!moments.rescue) {
    slice.template store<like_x>(held, moments, to, y_behind_x);
    if (slice.member == 0) store_statistics(arguments, row, moments);
  } else if (slice.member < warp_lanes) {
    rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
  }
}

// From row to row. One loop for y that lies as x does and another for other y: asked for each row,
// the two ways took registers from each other.
template <bool like_x>
NORMD_DEVICE void work(const NormArguments& arguments, long long row, int phase,
                       const PhasedSlice& slice, RowsOfGroup& of_group, Held& held, int y_behind_x,
                       Scratch& scratch) {
  const long long rows = arguments.rows;
  while (row < rows) {
    y_type* const to = y_row(arguments, row);
    of_group.ask();
    float sum;
    float square_sum;
    slice.sums(held, sum, square_sum);
    of_group.tell();
    scratch.sum_pair(sum, square_sum);
    const long long next = of_group.after(row, phase);
    if (next >= rows) of_group.end();  // its way to memory is hidden behind the last row's
    const FirstMoments first = first_moments(sum, square_sum, arguments.epsilon);
    finish<like_x>(arguments, row, slice, held, first, to, y_behind_x, scratch);
    row = next;
    if (row < rows) slice.load(x_row(arguments, row), held);
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  const int x_behind = begins_aligned ? 0 : behind_access(static_cast<const x_type*>(arguments.x));
  const int y_behind = begins_aligned ? 0 : behind_access(static_cast<const y_type*>(arguments.y));
  const int y_behind_x = (y_behind - x_behind + pack) % pack;
  const int phase = static_cast<int>(block_index() % phases);
  const int group = thread_index() / row_threads;
  const int first_behind = (x_behind + phase * row_columns) % pack;
  const PhasedSlice slice(thread_index() % row_threads, (pack - first_behind) % pack);
  fp32* const scratch_begin =
      shared_memory<fp32>() + affine_bytes / 4 + group * Scratch::row_floats;
  Scratch scratch(scratch_begin, slice.member / warp_lanes, group);
  const long long rows = arguments.rows;
  RowsOfGroup of_group{
      tickets == 0 ? nullptr : static_cast<RowTickets*>(arguments.workspace) + phase,
      reinterpret_cast<unsigned*>(shared_memory<unsigned char>() + affine_bytes + scratch_bytes) +
          2 * group,
      grid_blocks() / phases * groups, slice.member == 0};
  long long row = (block_index() / phases * groups + group) * phases + phase;
  Held held = {};  // zeros, which change no sums, where the thread has nothing
  // Asked for before gamma and beta are waited for.
  if (row < rows) slice.load(x_row(arguments, row), held);
  slice.fill_affine(arguments);
  if (row >= rows) of_group.end();

  if (y_behind_x == 0) {
    work<true>(arguments, row, phase, slice, of_group, held, y_behind_x, scratch);
  } else {
    work<false>(arguments, row, phase, slice, of_group, held, y_behind_x, scratch);
  }
}

}  // namespace normd
