// thread_rows: a thread owns whole rows, `rows_per_thread` of them, in registers. The rows of a
// warp are one stretch of memory, whatever their width: the warp reads it by full accesses, lays it
// into shared memory, and each thread takes its rows from there, a chunk of one or more at a time;
// results go back the same way. x is read once and y written once, and while a warp works the next
// stretch is on its way. No exchange but that: the sums of a row are one thread's own. For rows of
// a few elements, odd widths above all, where accesses of a row's own alignment are short.
#include "row_packs.cuh"

namespace normd {

constexpr int block_warps = block_threads / warp_lanes;
constexpr int warp_rows = warp_lanes * rows_per_thread;
constexpr int warp_elements = warp_rows * row_columns;
constexpr int warp_packs = warp_elements / pack;
constexpr int lane_packs = (warp_packs + warp_lanes - 1) / warp_lanes;

// The rows that a thread takes from shared memory at once: as many as fit 16 bytes, and at least so
// many that they begin on 4. Neighbouring threads take neighbouring chunks: those of an odd number
// of accesses lie in shared memory so that no two threads of one access meet in a bank.
NORMD_DEVICE constexpr int rows_in_chunk() {
  constexpr int row_bytes = row_columns * static_cast<int>(sizeof(x_type));
  int rows = 1;
  while (rows < rows_per_thread && (rows * row_bytes % 4 != 0 || 2 * rows * row_bytes <= 16)) {
    rows *= 2;
  }
  return rows;
}
constexpr int chunk_rows = rows_in_chunk();
constexpr int chunk_elements = chunk_rows * row_columns;
constexpr int chunk_bytes = chunk_elements * static_cast<int>(sizeof(x_type));
constexpr int chunks_of_thread = rows_per_thread / chunk_rows;
constexpr int access_bytes = chunk_bytes % 16 == 0 ? 16 : chunk_bytes % 8 == 0 ? 8 : 4;
constexpr int access = access_bytes / static_cast<int>(sizeof(x_type));

// gamma and beta as floats, held by each thread where the rows are narrow, else in shared memory.
constexpr int affine_floats = (has_gamma ? row_columns : 0) + (has_beta ? row_columns : 0);
constexpr int affine_bytes = (4 * affine_floats + 15) / 16 * 16;
constexpr bool affine_held = affine_floats <= 16;

static_assert(rows_per_block == block_threads * rows_per_thread, "as the Launch says");
static_assert(sizeof(x_type) == sizeof(y_type) && rows_contiguous, "one stretch for x and y");
static_assert(chunk_bytes % 4 == 0 && warp_elements % pack == 0, "whole words and packs");
static_assert(shared_bytes ==
                  affine_bytes + block_warps * warp_elements * static_cast<int>(sizeof(x_type)),
              "as the Launch says");

NORMD_DEVICE fp32* affine_shared() {
  return shared_memory<fp32>();
}
// Row number `row` of those that the block holds, of x first and then of y.
template <typename T>
NORMD_DEVICE T* held_row(int row) {
  return reinterpret_cast<T*>(shared_memory<unsigned char>() + affine_bytes) + row * row_columns;
}

// How the rare path reads a row, from the tensor, where nothing of the stretch is written yet, and
// writes it, to where it is held. A block's rows begin at a multiple of rows_per_block.
struct HeldRow {
  static NORMD_DEVICE long long columns_of(const NormArguments&) { return columns; }
  static NORMD_DEVICE double load(const NormArguments& arguments, long long row, long long column) {
    return CompiledRow::load(arguments, row, column);
  }
  static NORMD_DEVICE void store(const NormArguments& arguments, long long row, long long column,
                                 double value) {
    held_row<y_type>(static_cast<int>(row % rows_per_block))[column] =
        CompiledRow::output(arguments, column, value);
  }
  static NORMD_DEVICE void store_statistics(const NormArguments& arguments, long long row,
                                            float mean, float rstd) {
    CompiledRow::store_statistics(arguments, row, mean, rstd);
  }
};

NORMD_DEVICE void fill_affine(const NormArguments& arguments) {
  for (int column = thread_index(); column < row_columns; column += block_threads) {
    if constexpr (has_gamma) {
      affine_shared()[column].value =
          to_float(static_cast<const gamma_type*>(arguments.gamma)[column]);
    }
    if constexpr (has_beta) {
      affine_shared()[affine_floats - row_columns + column].value =
          to_float(static_cast<const beta_type*>(arguments.beta)[column]);
    }
  }
  block_barrier();
}

struct ThreadAffine {
  float held[affine_held ? larger_of(1, affine_floats) : 1];

  NORMD_DEVICE ThreadAffine() {
    if constexpr (affine_held) {
#pragma unroll
      for (int i = 0; i < affine_floats; ++i) held[i] = affine_shared()[i].value;
    }
  }
  NORMD_DEVICE float at(int i) const {
    return affine_held ? held[affine_held ? i : 0] : affine_shared()[i].value;
  }
  NORMD_DEVICE float apply(int column, float value) const {
    constexpr int beta_begin = affine_floats - row_columns;
    if constexpr (has_gamma && has_beta) {
      return fused_multiply_add(value, at(column), at(beta_begin + column));
    }
    if constexpr (has_gamma) return value * at(column);
    if constexpr (has_beta) return value + at(beta_begin + column);
    return value;
  }
};

// A warp's share of one turn: `elements` of its stretch lie in the tensor, the rest past its end.
// The last stretch of a tensor, if it is not full, is copied by itself; all others pass through
// registers, into which the next one is loaded while this one is worked on.
struct Stretch {
  long long first_row;
  int elements;

  NORMD_DEVICE Stretch(const NormArguments& arguments, long long first) : first_row(first) {
    const long long rows = arguments.rows - first;
    elements = rows >= warp_rows ? warp_elements
               : rows > 0        ? static_cast<int>(rows) * row_columns
                                 : 0;
  }
  NORMD_DEVICE bool full() const { return elements == warp_elements; }
  static NORMD_DEVICE int lane() { return thread_index() % warp_lanes; }
  static NORMD_DEVICE bool owns(int i) {
    return warp_packs % warp_lanes == 0 || lane() + i * warp_lanes < warp_packs;
  }
  static NORMD_DEVICE int begin(int i) { return (lane() + i * warp_lanes) * pack; }

  NORMD_DEVICE void load(const NormArguments& arguments,
                         Pack<x_type, pack> (&x)[lane_packs]) const {
    if (!full()) return;
    const x_type* from = x_row(arguments, first_row);
#pragma unroll
    for (int i = 0; i < lane_packs; ++i) {
      if (owns(i)) x[i] = load_pack<Hint::normal, x_type, pack>(from + begin(i));
    }
  }
  NORMD_DEVICE void lay(const NormArguments& arguments, const Pack<x_type, pack> (&x)[lane_packs],
                        x_type* held) const {
    if (full()) {
#pragma unroll
      for (int i = 0; i < lane_packs; ++i) {
        if (owns(i)) store_shared(held + begin(i), x[i]);
      }
      return;
    }
    const x_type* from = x_row(arguments, first_row);
    const int whole = elements / pack;
#pragma unroll 2
    for (int p = lane(); p < whole; p += warp_lanes) {
      store_shared(held + p * pack, load_pack<Hint::normal, x_type, pack>(from + p * pack));
    }
    const int rest = whole * pack + lane();
    if (rest < elements) held[rest] = from[rest];
  }
  NORMD_DEVICE void store(const NormArguments& arguments, const y_type* held) const {
    y_type* to = y_row(arguments, first_row);
    if (full()) {
#pragma unroll
      for (int i = 0; i < lane_packs; ++i) {
        if (!owns(i)) continue;
        store_pack(to + begin(i), load_shared_here<y_type, pack>(held + begin(i)));
      }
      return;
    }
    const int whole = elements / pack;
#pragma unroll 2
    for (int p = lane(); p < whole; p += warp_lanes) {
      store_pack(to + p * pack, load_shared_here<y_type, pack>(held + p * pack));
    }
    const int rest = whole * pack + lane();
    if (rest < elements) to[rest] = held[rest];
  }
};

// Of those that a row of so many columns has begun.
template <int count>
NORMD_DEVICE float chains_sum(const float (&part)[count]) {
  float sum = part[0];
#pragma unroll
  for (int i = 1; i < smaller_of(count, row_columns); ++i) sum += part[i];
  return sum;
}

// The row that begins at `values`: its moments, and its elements normalised in place.
NORMD_DEVICE RowMoments normalise_row(float* values, const ThreadAffine& affine, float epsilon) {
  // Chains begin with a value, not with zero: an addition less each, and here they are short.
  float part[4];
#pragma unroll
  for (int k = 0; k < row_columns; ++k) part[k % 4] = k < 4 ? values[k] : part[k % 4] + values[k];
  const float mean = divide_by_columns(chains_sum<4>(part));
  float deviations[2];
  float squares[2];
#pragma unroll
  for (int k = 0; k < row_columns; ++k) {
    values[k] -= mean;
    deviations[k % 2] = k < 2 ? values[k] : deviations[k % 2] + values[k];
    squares[k % 2] =
        k < 2 ? values[k] * values[k] : fused_multiply_add(values[k], values[k], squares[k % 2]);
  }
  const float deviation_sum = chains_sum<2>(deviations);
  const Moments found =
      moments_from(mean, deviation_sum, chains_sum<2>(squares), divisor_of(row_columns));
  const RowMoments moments = row_moments(unless_drowned(found, deviation_sum), epsilon);
  // The values are deviations by now, which only the correction shifts.
  const float shift = -found.correction * moments.rstd;
#pragma unroll
  for (int k = 0; k < row_columns; ++k) {
    values[k] = affine.apply(k, fused_multiply_add(values[k], moments.rstd, shift));
  }
  return moments;
}

// The chunk of rows from `row` of the block's on: x becomes y at the same place.
NORMD_DEVICE void work_on_chunk(const NormArguments& arguments, const ThreadAffine& affine,
                                long long first_row, int row) {
  const x_type* x = held_row<x_type>(row);
  y_type* y = held_row<y_type>(row);
  float values[chunk_elements];
#pragma unroll
  for (int i = 0; i < chunk_elements; i += access) {
    float some[access];
    to_floats(load_shared_here<x_type, access>(x + i), some);
#pragma unroll
    for (int k = 0; k < access; ++k) values[i + k] = some[k];
  }
  unsigned rescue = 0;
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    const RowMoments moments = normalise_row(values + r * row_columns, affine, arguments.epsilon);
    if (moments.rescue) {
      rescue |= 1u << r;
    } else if ((wants_mean || wants_rstd) && first_row + r < arguments.rows) {
      store_statistics(arguments, first_row + r, moments);
    }
  }
#pragma unroll
  for (int i = 0; i < chunk_elements; i += access) {
    float some[access];
#pragma unroll
    for (int k = 0; k < access; ++k) some[k] = values[i + k];
    store_shared(y + i, from_floats<y_type>(some));
  }
  if (rescue == 0) return;
#pragma unroll 1
  for (int r = 0; r < chunk_rows; ++r) {
    if ((rescue >> r & 1u) == 0 || first_row + r >= arguments.rows) continue;
    rescue_row<HeldRow, 1>(arguments, first_row + r, 0, true, nullptr);
  }
}

// Of blocks that do not stay, too, several are to fit.
constexpr int blocks_resident = blocks_per_sm > 0 ? blocks_per_sm
                                                  : larger_of(1, 384 / block_threads);

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads, blocks_resident) {
  const int warp_begin = thread_index() / warp_lanes * warp_rows;
  const long long step = grid_blocks() * rows_per_block;
  Stretch stretch(arguments, block_index() * rows_per_block + warp_begin);
  Pack<x_type, pack> x[lane_packs];
  stretch.load(arguments, x);
  if constexpr (affine_floats > 0) fill_affine(arguments);
  const ThreadAffine affine;

  while (stretch.elements > 0) {
    stretch.lay(arguments, x, held_row<x_type>(warp_begin));
    warp_barrier();
    const Stretch next(arguments, stretch.first_row + step);
    // Blocks that do not stay rarely have a second turn.
    if constexpr (blocks_per_sm > 0) next.load(arguments, x);
#pragma unroll 1
    for (int c = 0; c < chunks_of_thread; ++c) {
      const int row = (c * warp_lanes + Stretch::lane()) * chunk_rows;
      work_on_chunk(arguments, affine, stretch.first_row + row, warp_begin + row);
    }
    warp_barrier();
    stretch.store(arguments, held_row<y_type>(warp_begin));
    warp_barrier();
    if constexpr (blocks_per_sm == 0) next.load(arguments, x);
    stretch = next;
  }
}

}  // namespace normd
