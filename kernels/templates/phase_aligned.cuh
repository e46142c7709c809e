// phase_aligned: rows that do not start on 16 bytes, because their width is odd. The row is covered
// by aligned packs, of which the first and the last hold some of its neighbours' elements: these
// are left out of the sums and not stored. x and y have the same phase, since both begin on 16
// bytes. Every `phases`-th row has it, too: a block takes rows of one phase only, and has gamma and
// beta in shared memory shifted as these rows are, so that all meet pack by pack. `groups` groups
// of warps go from row to row, each in registers, with one reduction per row.
#include "row_origin.cuh"
#include "row_reduce.cuh"

namespace normd {

NORMD_DEVICE constexpr int common_divisor(int a, int b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

constexpr int phases = pack / common_divisor(row_columns, pack);
constexpr int row_threads = block_threads / groups;
constexpr int row_warps = row_threads / warp_lanes;
constexpr int cover_packs = (row_columns + pack - 2) / pack + 1;  // of a row, whatever its phase
constexpr int packs = (cover_packs + row_threads - 1) / row_threads;

template <typename T>
constexpr int cover_bytes = (cover_packs * pack * static_cast<int>(sizeof(T)) + 15) / 16 * 16;
constexpr int gamma_bytes = has_gamma ? cover_bytes<gamma_type> : 0;
constexpr int affine_bytes = gamma_bytes + (has_beta ? cover_bytes<beta_type> : 0);

using Packs = Pack<x_type, pack>[packs];
using Scratch = RowScratch<row_warps, 2>;

static_assert(row_warps * warp_lanes * groups == block_threads, "as the Launch says");
static_assert(rows_per_block == groups * phases, "as the Launch says");
static_assert(sizeof(x_type) == sizeof(y_type) && rows_contiguous, "x and y in the same phase");
static_assert(shared_bytes == affine_bytes + 4 * Scratch::row_floats * groups,
              "as the Launch says");

NORMD_DEVICE gamma_type* shifted_gamma() {
  return shared_memory<gamma_type>();
}
NORMD_DEVICE beta_type* shifted_beta() {
  return reinterpret_cast<beta_type*>(shared_memory<unsigned char>() + gamma_bytes);
}

template <typename T>
NORMD_DEVICE void fill_shifted(const void* from, int head, T* to) {
  for (int i = thread_index(); i < cover_packs * pack; i += block_threads) {
    const int column = i - head;
    const bool inside = column >= 0 && column < row_columns;
    to[i] = inside ? static_cast<const T*>(from)[column] : T{};
  }
}

// Of the elements from `begin` to `end`, those that fill accesses of `width`.
template <int width>
NORMD_DEVICE void store_some(y_type* to, const Pack<y_type, pack>& y, int begin, int end) {
#pragma unroll
  for (int k = 0; k < pack; k += width) {
    if (begin > k || end < k + width) continue;
    Pack<y_type, width> part;
#pragma unroll
    for (int j = 0; j < width; ++j) part.element[j] = y.element[k + j];
    store_pack<Hint::normal>(to + k, part);
  }
}

// The share of one row of each of its threads: aligned packs, the first of which begins `head`
// elements before the row. Only the first pack may begin before the row, and only the last ones of
// a thread may reach beyond it: for all others that is known when the text is compiled.
struct PhasedSlice {
  int member;
  int head;

  NORMD_DEVICE int column(int i) const { return (member + i * row_threads) * pack - head; }
  static NORMD_DEVICE constexpr bool always_whole(int i) {
    return i > 0 && (i + 1) * row_threads * pack <= row_columns;
  }
  NORMD_DEVICE bool owns(int i) const { return always_whole(i) || column(i) < row_columns; }
  NORMD_DEVICE bool whole(int i) const {
    return always_whole(i) || ((i > 0 || column(i) >= 0) && column(i) + pack <= row_columns);
  }
  NORMD_DEVICE bool holds(int i, int k) const {
    return column(i) + k >= 0 && column(i) + k < row_columns;
  }

  // Nothing may be read beyond the tensor's end, `left`
  // elements on from the row; before its begin no pack reaches, since the tensor begins with one.
  NORMD_DEVICE void load(const x_type* row, long long left, Packs& x) const {
    const x_type* const first = row - head + member * pack;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      const x_type* const from = first + i * row_threads * pack;
      x[i] = Pack<x_type, pack>{};
      if (always_whole(i) || (owns(i) && column(i) + pack <= left)) {
        x[i] = load_pack<Hint::normal, x_type, pack>(from);
      } else if (owns(i)) {
#pragma unroll
        for (int k = 0; k < pack; ++k) {
          if (holds(i, k)) x[i].element[k] = from[k];
        }
      }
    }
  }

  // Deviations from `instead` then leave other rows' elements out by themselves.
  NORMD_DEVICE void put_instead_of_others(x_type instead, Packs& x) const {
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (whole(i)) continue;
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        if (!holds(i, k)) x[i].element[k] = instead;
      }
    }
  }

  NORMD_DEVICE void deviations(const Packs& x, float origin, float& deviation_sum,
                               float& square_sum) const {
    ChainSums sums = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      float values[pack];
      to_floats(x[i], values);
#pragma unroll
      for (int k = 0; k < pack; ++k) sums.add(k, i == 0, values[k] - origin);
    }
    deviation_sum = chains_total(sums.deviation);
    square_sum = chains_total(sums.square);
  }

  // The same in a second pass, about what is no element.
  NORMD_DEVICE void deviations_again(const Packs& x, float origin, float& deviation_sum,
                                     float& square_sum) const {
    ChainSums sums = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      Pack<x_type, pack> again = x[i];
      keep_packed(again);
      float values[pack];
      to_floats(again, values);
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        sums.add(k, i == 0, always_whole(i) || holds(i, k) ? values[k] - origin : 0.0f);
      }
    }
    deviation_sum = chains_total(sums.deviation);
    square_sum = chains_total(sums.square);
  }

  NORMD_DEVICE void store(const Packs& x, const RowMoments& moments, y_type* row) const {
    y_type* const first = row - head + member * pack;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (!owns(i)) continue;
      float values[pack];
      normalise(x[i], moments, values);
      const int at = (member + i * row_threads) * pack;
      apply_shared(shifted_gamma() + at, shifted_beta() + at, values);
      const Pack<y_type, pack> y = from_floats<y_type>(values);
      y_type* const to = first + i * row_threads * pack;
      if (whole(i)) {
        store_pack<Hint::normal>(to, y);
      } else {
        store_part(to, y, column(i));
      }
    }
  }

  // Of a pack at the row's begin or end. Elements of two bytes go by pairs where both are in.
  static NORMD_DEVICE void store_part(y_type* to, const Pack<y_type, pack>& y, int column) {
    const int begin = column < 0 ? -column : 0;
    const int end = smaller_of(pack, row_columns - column);
    if constexpr (sizeof(y_type) == 2) {
      store_some<2>(to, y, begin, end);
      if (begin % 2 != 0) store_one(to, y, begin);
      if (end % 2 != 0 && end > begin) store_one(to, y, end - 1);
    } else {
      store_some<1>(to, y, begin, end);
    }
  }
  static NORMD_DEVICE void store_one(y_type* to, const Pack<y_type, pack>& y, int k) {
#pragma unroll
    for (int j = 0; j < pack; ++j) {
      if (j == k) to[j] = y.element[j];
    }
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  const int phase = static_cast<int>(block_index() % phases);
  const int group = thread_index() / row_threads;
  const PhasedSlice slice{thread_index() % row_threads, phase * row_columns % pack};
  fp32* const scratch_begin =
      shared_memory<fp32>() + affine_bytes / 4 + group * Scratch::row_floats;
  Scratch scratch(scratch_begin, slice.member / warp_lanes, group);
  const long long rows = arguments.rows;
  if constexpr (has_gamma) fill_shifted(arguments.gamma, slice.head, shifted_gamma());
  if constexpr (has_beta) fill_shifted(arguments.beta, slice.head, shifted_beta());
  block_barrier();

  for (long long row = (block_index() / phases * groups + group) * phases + phase; row < rows;
       row += grid_blocks() * groups) {
    const x_type* const from = x_row(arguments, row);
    Packs x;
    slice.load(from, (rows - row) * row_columns, x);
    const Origin middle = row_origin(from);  // an element, so no rounding makes it another
    slice.put_instead_of_others(from_float<x_type>(middle.value), x);
    const Moments found = moments_of_slice(slice, x, middle, divisor_of(row_columns), scratch);
    const RowMoments moments = row_moments(found, arguments.epsilon);
    if (moments.rescue) {
      if (slice.member < warp_lanes) {
        rescue_row<CompiledRow, warp_lanes>(arguments, row, slice.member, true, nullptr);
      }
    } else {
      slice.store(x, moments, y_row(arguments, row));
      if (slice.member == 0) store_statistics(arguments, row, moments);
    }
  }
}

}  // namespace normd
