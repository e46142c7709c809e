// phase_aligned: rows that do not start on 16 bytes, because their width is odd. The row is covered
// by aligned packs, of which the first and the last hold some of its neighbours' elements: these
// are left out of the sums and not stored. x and y have the same phase, since both begin on 16
// bytes; gamma and beta have another for each row, so they lie in shared memory as floats, spread
// so that the threads of a warp find theirs without conflict. `rows_per_block` groups of warps go
// from row to row, each in registers, with one reduction per row.
#include "row_packs.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int row_threads = block_threads / rows_per_block;
constexpr int row_warps = row_threads / warp_lanes;
constexpr int cover_packs = (row_columns + pack - 2) / pack + 1;  // of a row, whatever its phase
constexpr int packs = (cover_packs + row_threads - 1) / row_threads;

// gamma and beta: for each place within a pack, a stretch of `stretch` columns that far apart.
constexpr int affine_floats = (has_gamma ? 1 : 0) + (has_beta ? 1 : 0);
constexpr int stretch = (row_columns + pack - 1) / pack;
constexpr int affine_bytes = (4 * affine_floats * stretch * pack + 15) / 16 * 16;

using Scratch = RowScratch<row_warps, 2>;
using AffinePair = Pack<fp32, larger_of(1, affine_floats)>;

static_assert(row_warps * warp_lanes * rows_per_block == block_threads, "as the Launch says");
static_assert(sizeof(x_type) == sizeof(y_type) && rows_contiguous, "x and y in the same phase");
static_assert(shared_bytes == affine_bytes + 4 * Scratch::row_floats * rows_per_block,
              "as the Launch says");

NORMD_DEVICE AffinePair* affine_shared() {
  return shared_memory<AffinePair>();
}

NORMD_DEVICE void fill_affine(const NormArguments& arguments) {
  if constexpr (affine_floats > 0) {
    for (int column = thread_index(); column < row_columns; column += block_threads) {
      AffinePair& place = affine_shared()[column % pack * stretch + column / pack];
      if constexpr (has_gamma) {
        place.element[0].value = to_float(static_cast<const gamma_type*>(arguments.gamma)[column]);
      }
      if constexpr (has_beta) {
        place.element[affine_floats - 1].value =
            to_float(static_cast<const beta_type*>(arguments.beta)[column]);
      }
    }
    block_barrier();
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

  // Elements of other rows become zero. Nothing may be read beyond the tensor's end, `left`
  // elements on from the row; before its begin no pack reaches, since the tensor begins with one.
  NORMD_DEVICE void load(const x_type* row, long long left, Pack<x_type, pack> (&x)[packs]) const {
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      x[i] = Pack<x_type, pack>{};
      if (!owns(i)) continue;
      const bool readable = whole(i) || column(i) + pack <= left;
      if (readable) x[i] = load_pack<Hint::normal, x_type, pack>(row + column(i));
      if (whole(i)) continue;
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        if (!holds(i, k)) x[i].element[k] = x_type{};
        if (holds(i, k) && !readable) x[i].element[k] = row[column(i) + k];
      }
    }
  }

  NORMD_DEVICE void deviations(const Pack<x_type, pack> (&x)[packs], float origin,
                               float& deviation_sum, float& square_sum) const {
    ChainSums sums = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (!owns(i)) continue;
      float values[pack];
      to_floats(x[i], values);
#pragma unroll
      for (int k = 0; k < pack; ++k) values[k] -= origin;
      if (!whole(i)) {
#pragma unroll
        for (int k = 0; k < pack; ++k) values[k] = holds(i, k) ? values[k] : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < pack; ++k) sums.add(k, i == 0, values[k]);
    }
    deviation_sum = chains_total(sums.deviation);
    square_sum = chains_total(sums.square);
  }

  NORMD_DEVICE void store(const Pack<x_type, pack> (&x)[packs], const RowMoments& moments,
                          y_type* row) const {
    const AffinePair* of[pack];  // gamma and beta of the k-th element of pack 0
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      const int behind = k >= head ? k - head : k - head + pack;
      of[k] = affine_shared() + behind * stretch - (k >= head ? 0 : 1) + member;
    }
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (!owns(i)) continue;
      float values[pack];
      normalise(x[i], moments, values);
      if (whole(i)) {
#pragma unroll
        for (int k = 0; k < pack; ++k) apply(of[k] + i * row_threads, values[k]);
        store_pack<Hint::normal>(row + column(i), from_floats<y_type>(values));
      } else {
#pragma unroll
        for (int k = 0; k < pack; ++k) {
          if (!holds(i, k)) continue;
          apply(of[k] + i * row_threads, values[k]);
          row[column(i) + k] = from_float<y_type>(values[k]);
        }
      }
    }
  }

  static NORMD_DEVICE void apply(const AffinePair* pair, float& value) {
    if constexpr (has_gamma && has_beta) {
      value = fused_multiply_add(value, pair->element[0].value,
                                 pair->element[affine_floats > 1 ? 1 : 0].value);
    } else if constexpr (has_gamma) {
      value *= pair->element[0].value;
    } else if constexpr (has_beta) {
      value += pair->element[0].value;
    }
  }
};

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_per_sm) {
  const int group = thread_index() / row_threads;
  const int member = thread_index() % row_threads;
  fp32* const scratch_begin =
      shared_memory<fp32>() + affine_bytes / 4 + group * Scratch::row_floats;
  Scratch scratch(scratch_begin, member / warp_lanes, group);
  const long long rows = arguments.rows;
  fill_affine(arguments);

  for (long long row = block_index() * rows_per_block + group; row < rows;
       row += grid_blocks() * rows_per_block) {
    const PhasedSlice slice{member, static_cast<int>(row * row_columns % pack)};
    const float origin = row_origin(x_row(arguments, row));
    Pack<x_type, pack> x[packs];
    slice.load(x_row(arguments, row), (rows - row) * row_columns, x);
    const auto sums_about = [&](float from, float& first, float& second) {
      slice.deviations(x, from, first, second);
      scratch.sum_pair(first, second);
    };
    const Moments found = moments_near(origin, divisor_of(row_columns), sums_about, sums_about);
    const RowMoments moments = row_moments(found, arguments.epsilon);
    if (moments.rescue) {
      if (member < warp_lanes) {
        rescue_row<CompiledRow, warp_lanes>(arguments, row, member, true, nullptr);
      }
    } else {
      slice.store(x, moments, y_row(arguments, row));
      if (member == 0) store_statistics(arguments, row, moments);
    }
  }
}

}  // namespace normd
