// any_columns: the fallback for every problem. Columns, types, strides and optional tensors are
// run-time arguments. A warp owns a row of up to 1024 columns and a block a wider one; the owner
// goes over the row twice (sums and squares; normalise), and once more where its mean is large
// beside its spread, with packs of 16 bytes where every address, stride and the row
// width allow, else element by element. Sums are compensated. x and y may be the same memory: the
// owner has read the whole row before it writes, and each element is last read by the thread that
// writes it.
#include "accumulator.cuh"
#include "any_element.cuh"
#include "moments.cuh"
#include "row_reduce.cuh"

namespace normd {

constexpr int block_warps = block_threads / warp_lanes;
constexpr long long columns_per_warp_max = 1024;

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == RowScratch<block_warps, 1>::bytes, "as the Launch says");

struct AnyRow {
  static NORMD_DEVICE long long columns_of(const NormArguments& arguments) {
    return arguments.columns;
  }
  static NORMD_DEVICE double load(const NormArguments& arguments, long long row, long long column) {
    return load_any(kinds_of(arguments.flags).x, arguments.x,
                    row * arguments.x_row_stride + column);
  }
  static NORMD_DEVICE void store(const NormArguments& arguments, long long row, long long column,
                                 double value) {
    const Kinds kinds = kinds_of(arguments.flags);
    if (kinds.gamma != 0u) value *= load_any(kinds.gamma, arguments.gamma, column);
    if (kinds.beta != 0u) value += load_any(kinds.beta, arguments.beta, column);
    store_any(kinds.y, arguments.y, row * arguments.y_row_stride + column, value);
  }
  static NORMD_DEVICE void store_statistics(const NormArguments& arguments, long long row,
                                            float mean, float rstd) {
    if (arguments.mean != nullptr) arguments.mean[row] = mean;
    if (arguments.rstd != nullptr) arguments.rstd[row] = rstd;
  }
};

using Scratch = RowScratch<block_warps, 1>;

// Sums over the `width` threads that share a row: a warp or the block.
NORMD_DEVICE void row_sum_pair(int width, Scratch& scratch, float& first, float& second) {
  if (width == warp_lanes) {
    first = lanes_sum<warp_lanes>(first);
    second = lanes_sum<warp_lanes>(second);
  } else {
    scratch.sum_pair(first, second);
  }
}

template <typename X, int pack>
NORMD_DEVICE RowMoments moments_of_row(const NormArguments& arguments, long long row, int width,
                                   Scratch& scratch) {
  const long long x_start = row * arguments.x_row_stride;
  const float columns = static_cast<float>(arguments.columns);
  const Divisor divisor{columns, 1.0f / columns, false};
  const auto sums_about = [&](float value, float& deviation_sum, float& square_sum) {
    Accumulator deviations;
    Accumulator squares;
    for (long long i = thread_index() % width * pack; i < arguments.columns; i += width * pack) {
      float values[pack];
      float square[pack];
      load_floats<Hint::normal, X>(arguments.x, x_start + i, values);
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        values[k] -= value;
        square[k] = values[k] * values[k];
      }
      deviations.add(tree_sum(values));
      squares.add(tree_sum(square));
    }
    deviation_sum = deviations.sum;
    square_sum = squares.sum;
    row_sum_pair(width, scratch, deviation_sum, square_sum);
  };
  const Moments found = moments_of<true>(divisor, sums_about);
  return row_moments<true>(found, divisor, arguments.epsilon);
}

template <typename X, int pack>
NORMD_DEVICE void store_row(const NormArguments& arguments, long long row, int width,
                            const RowMoments& moments) {
  const Kinds kinds = kinds_of(arguments.flags);
  for (long long i = thread_index() % width * pack; i < arguments.columns; i += width * pack) {
    float values[pack];
    float factors[pack];
    float terms[pack];
    load_floats<Hint::normal, X>(arguments.x, row * arguments.x_row_stride + i, values);
    if (kinds.gamma != 0u) {
      load_floats_any<Hint::read_only>(kinds.gamma, arguments.gamma, i, factors);
    }
    if (kinds.beta != 0u) {
      load_floats_any<Hint::read_only>(kinds.beta, arguments.beta, i, terms);
    }
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      values[k] = fused_multiply_add(values[k] - moments.base, moments.rstd, moments.shift);
      values[k] = fused_multiply_add(values[k], kinds.gamma != 0u ? factors[k] : 1.0f,
                                     kinds.beta != 0u ? terms[k] : 0.0f);
    }
    store_floats_any(kinds.y, arguments.y, row * arguments.y_row_stride + i, values);
  }
}

// One row by `width` threads in packs of `pack` elements of X.
template <typename X, int pack>
NORMD_DEVICE_CALL void normalise_row(const NormArguments& arguments, long long row, int width,
                                     Scratch& scratch) {
  const int member = thread_index() % width;
  const RowMoments moments = moments_of_row<X, pack>(arguments, row, width, scratch);
  if (!moments.rescue) {
    store_row<X, pack>(arguments, row, width, moments);
    if (member != 0) return;
    AnyRow::store_statistics(arguments, row, moments.mean, moments.rstd);
  } else if (width == warp_lanes) {
    rescue_row<AnyRow, warp_lanes>(arguments, row, member, true, nullptr);
  } else {
    rescue_row<AnyRow, block_threads>(arguments, row, member, true, scratch.doubles());
  }
}

template <typename X, int pack>
NORMD_DEVICE void normalise_rows(const NormArguments& arguments) {
  const int width = arguments.columns <= columns_per_warp_max ? warp_lanes : block_threads;
  const int rows_held = block_threads / width;
  const long long first = block_index() * rows_held + thread_index() / width;
  Scratch scratch(0, thread_index() / warp_lanes);
  for (long long row = first; row < arguments.rows; row += grid_blocks() * rows_held) {
    normalise_row<X, pack>(arguments, row, width, scratch);
  }
}

NORMD_DEVICE bool aligned_16(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % 16u == 0u;
}

template <typename X>
NORMD_DEVICE void normalise_rows_of(const NormArguments& arguments) {
  constexpr int pack = 16 / static_cast<int>(sizeof(X));
  const bool packs = arguments.columns % pack == 0 && aligned_16(arguments.x) &&
                     aligned_16(arguments.y) && aligned_16(arguments.gamma) &&
                     aligned_16(arguments.beta) && arguments.x_row_stride % pack == 0 &&
                     arguments.y_row_stride * any_bytes(kinds_of(arguments.flags).y) % 16 == 0;
  if (packs)
    normalise_rows<X, pack>(arguments);
  else
    normalise_rows<X, 1>(arguments);
}

NORMD_KERNEL(normd_any_columns, NormArguments, block_threads) {
  const unsigned x_kind = kinds_of(arguments.flags).x;
  if (x_kind == 1u) normalise_rows_of<fp32>(arguments);
  if (x_kind == 2u) normalise_rows_of<fp16>(arguments);
  if (x_kind == 3u) normalise_rows_of<bf16>(arguments);
}

}  // namespace normd
