// thread_rows: a thread owns whole rows, `rows_per_thread` of them. The rows of a warp are one
// stretch of memory, whatever their width: the warp reads it by full accesses, lays it into shared
// memory, and each thread takes its rows from there, a chunk of one or more at a time; results go
// back the same way. x is read once and y written once. No exchange but that: the sums of a row are
// one thread's own. For rows of a few elements, odd widths above all, where accesses of a row's own
// alignment are short.
#include "thread_chunk.cuh"

namespace normd {

constexpr int warp_rows = warp_lanes * rows_per_thread;
constexpr int warp_elements = warp_rows * row_columns;
constexpr int warp_packs = warp_elements / pack;
constexpr int lane_packs = (warp_packs + warp_lanes - 1) / warp_lanes;

// At the least, of a multiprocessor.
constexpr int threads_resident = 512;

static_assert(rows_per_block == block_threads * rows_per_thread, "as the Launch says");
static_assert(sizeof(x_type) == sizeof(y_type) && rows_contiguous, "one stretch for x and y");
static_assert(chunk_bytes % 4 == 0 && warp_elements % pack == 0, "whole words and packs");
static_assert(shared_bytes ==
                  affine_bytes + block_threads * chunks_of_thread * (chunk_elements + gap) *
                                     static_cast<int>(sizeof(x_type)),
              "as the Launch says");

// Where element number `element` of a stretch is held.
NORMD_DEVICE int place(int element) {
  return gap == 0 ? element : element + element / chunk_elements * gap;
}
// Row number `row` of those that the block holds, of x first and then of y.
template <typename T>
NORMD_DEVICE T* held_row(int row) {
  return reinterpret_cast<T*>(shared_memory<unsigned char>() + affine_bytes) +
         place(row * row_columns);
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

// A warp's rows, of which `elements` lie in the tensor, the rest past its end. The last stretch of
// a tensor, if it is not full, is copied by itself; all others pass through registers.
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
      if (owns(i)) x[i] = load_pack<x_hint_of(x_evict_last), x_type, pack>(from + begin(i));
    }
  }
  NORMD_DEVICE void lay(const NormArguments& arguments, const Pack<x_type, pack> (&x)[lane_packs],
                        x_type* held) const {
    if (full()) {
#pragma unroll
      for (int i = 0; i < lane_packs; ++i) {
        if (owns(i)) store_shared(held + place(begin(i)), x[i]);
      }
      return;
    }
    const x_type* from = x_row(arguments, first_row);
    const int whole = elements / pack;
#pragma unroll 2
    for (int p = lane(); p < whole; p += warp_lanes) {
      store_shared(held + place(p * pack),
                   load_pack<Hint::normal, x_type, pack>(from + p * pack));
    }
    const int rest = whole * pack + lane();
    if (rest < elements) held[place(rest)] = from[rest];
  }
  NORMD_DEVICE void store(const NormArguments& arguments, const y_type* held) const {
    y_type* to = y_row(arguments, first_row);
    if (full()) {
#pragma unroll
      for (int i = 0; i < lane_packs; ++i) {
        if (!owns(i)) continue;
        store_pack(to + begin(i), load_shared_here<y_type, pack>(held + place(begin(i))));
      }
      return;
    }
    const int whole = elements / pack;
#pragma unroll 2
    for (int p = lane(); p < whole; p += warp_lanes) {
      store_pack(to + p * pack, load_shared_here<y_type, pack>(held + place(p * pack)));
    }
    const int rest = whole * pack + lane();
    if (rest < elements) to[rest] = held[place(rest)];
  }
};

// The chunk of rows from `row` of the block's on.
NORMD_DEVICE void work_on_chunk(const NormArguments& arguments, const ThreadAffine& affine,
                                long long first_row, int row) {
  const Chunk chunk{held_row<x_type>(row), held_row<y_type>(row)};
  RowMoments moments[chunk_rows];
  if constexpr (row_columns <= columns_held) {
    work_in_registers(chunk, affine, arguments.epsilon, moments);
  } else {
    work_in_shared(chunk, affine, arguments.epsilon, moments);
  }
  unsigned rescue = 0;
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    if (moments[r].rescue) {
      rescue |= 1u << r;
    } else if ((wants_mean || wants_rstd) && first_row + r < arguments.rows) {
      store_statistics(arguments, first_row + r, moments[r]);
    }
  }
  if (rescue == 0) return;
#pragma unroll 1
  for (int r = 0; r < chunk_rows; ++r) {
    if ((rescue >> r & 1u) == 0 || first_row + r >= arguments.rows) continue;
    rescue_row<HeldRow, 1>(arguments, first_row + r, 0, true, nullptr);
  }
}

NORMD_KERNEL_RESIDENT(normd_kernel, NormArguments, block_threads,
                      larger_of(1, threads_resident / block_threads)) {
  const int warp_begin = thread_index() / warp_lanes * warp_rows;
  const Stretch stretch(arguments, block_index() * rows_per_block + warp_begin);
  Pack<x_type, pack> x[lane_packs];
  stretch.load(arguments, x);
  if constexpr (affine_floats > 0) fill_affine(arguments);
  const ThreadAffine affine;
  if (stretch.elements == 0) return;

  stretch.lay(arguments, x, held_row<x_type>(warp_begin));
  warp_barrier();
#pragma unroll 1
  for (int c = 0; c < chunks_of_thread; ++c) {
    const int row = (c * warp_lanes + Stretch::lane()) * chunk_rows;
    work_on_chunk(arguments, affine, stretch.first_row + row, warp_begin + row);
  }
  warp_barrier();
  stretch.store(arguments, held_row<y_type>(warp_begin));
}

}  // namespace normd
