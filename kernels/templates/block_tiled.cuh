// block_tiled: a block owns a row that no block can hold and goes over it twice: sums and squares;
// normalise, in reverse, since the end of the row is still near. A row whose mean is large beside
// its spread takes one pass more. A tile is `unroll` packs per thread, all
// asked for before the first is used. x is read twice, mostly from the cache, and y written once;
// sums are compensated, so a row may be as wide as it likes. In place: each element is last read by
// the thread that writes it, after the block has read the row once.
#include "accumulator.cuh"
#include "row_reduce.cuh"
#include "row_slice.cuh"

namespace normd {

constexpr int row_warps = block_threads / warp_lanes;
constexpr int tile_packs = block_threads * unroll;
constexpr int tiles = (row_packs + tile_packs - 1) / tile_packs;

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == RowScratch<row_warps, 1>::bytes, "as the Launch says");

// The packs of one tile that a thread owns. Past the row's end there are zeros.
struct Tile {
  Pack<x_type, pack> x[unroll];

  static NORMD_DEVICE int column(int tile, int u) {
    return (tile * tile_packs + u * block_threads + thread_index()) * pack;
  }
  NORMD_DEVICE void load(const x_type* row, int tile) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      if (column(tile, u) < row_columns) {
        load_at<Hint::normal, x_align>(row + column(tile, u), column(tile, u), x[u]);
      } else {
        x[u] = Pack<x_type, pack>{};
      }
    }
  }
};

NORMD_DEVICE void sums_about(const x_type* row, float value, RowScratch<row_warps, 1>& scratch,
                             float& deviation_sum, float& square_sum) {
  Accumulator deviations;
  Accumulator squares;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    Tile held;
    held.load(row, tile);
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      float deviation[pack];
      float square[pack];
      to_floats(held.x[u], deviation);
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        const bool inside = Tile::column(tile, u) + k < row_columns;
        deviation[k] = inside ? deviation[k] - value : 0.0f;
        square[k] = deviation[k] * deviation[k];
      }
      deviations.add(tree_sum(deviation));
      squares.add(tree_sum(square));
    }
  }
  deviation_sum = deviations.sum;
  square_sum = squares.sum;
  scratch.sum_pair(deviation_sum, square_sum);
}

NORMD_DEVICE void store_tile(const NormArguments& arguments, const Tile& held, int tile,
                             const RowMoments& moments, y_type* row) {
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const int column = Tile::column(tile, u);
    if (column >= row_columns) continue;
    float values[pack];
    normalise(held.x[u], moments, values);
    load_affine(arguments, column).apply(values);
    store_at(row + column, column, from_floats<y_type>(values));
  }
}

NORMD_KERNEL(normd_kernel, NormArguments, block_threads) {
  RowScratch<row_warps, 1> scratch(0, thread_index() / warp_lanes);
  for (long long row = block_index(); row < arguments.rows; row += grid_blocks()) {
    const x_type* x = x_row(arguments, row);
    const auto sums_about_it = [&](float value, float& deviation_sum, float& square_sum) {
      sums_about(x, value, scratch, deviation_sum, square_sum);
    };
    const Moments found =
        moments_of<fine>(divisor_of(row_columns), sums_about_it);
    const RowMoments moments = row_moments(found, arguments.epsilon);
    if (moments.rescue) {
      rescue_row<CompiledRow, block_threads>(arguments, row, thread_index(), true,
                                             scratch.doubles());
      continue;
    }
#pragma unroll 1
    for (int tile = tiles - 1; tile >= 0; --tile) {
      Tile held;
      held.load(x, tile);
      store_tile(arguments, held, tile, moments, y_row(arguments, row));
    }
    if (thread_index() == 0) store_statistics(arguments, row, moments);
  }
}

}  // namespace normd
