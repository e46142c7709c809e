// A chunk: the rows that a thread of thread_rows takes from shared memory at once, and how x
// becomes y there, by one thread alone, with gamma and beta.
#pragma once

#include "row_packs.cuh"

namespace normd {

// The rows that a thread takes from shared memory at once: as many as fit 16 bytes, and at least so
// many that they begin on 4. Neighbouring threads take neighbouring chunks, which lie an odd number
// of accesses apart, so that no two threads of one access meet in a bank.
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
constexpr int gap = chunk_bytes / access_bytes % 2 == 0 ? access : 0;  // elements between chunks

// gamma and beta as floats, held by each thread where the rows are narrow, else in shared memory.
constexpr int affine_floats = (has_gamma ? row_columns : 0) + (has_beta ? row_columns : 0);
constexpr int affine_bytes = (4 * affine_floats + 15) / 16 * 16;
constexpr bool affine_held = affine_floats <= 16;

// Up to so many, a thread holds its chunk as floats; more would leave room for few threads.
constexpr int columns_held = 24;

NORMD_DEVICE fp32* affine_shared() {
  return shared_memory<fp32>();
}

// By every thread of the block.
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

// A thread's chunk of rows, of which x becomes y at the same place.
struct Chunk {
  const x_type* x;
  y_type* y;

  NORMD_DEVICE void load(int begin, float (&values)[access]) const {
    to_floats(load_shared_here<x_type, access>(x + begin), values);
  }
  NORMD_DEVICE void store(int begin, const float (&values)[access]) const {
    store_shared(y + begin, from_floats<y_type>(values));
  }

  // take(e, value) for each element of x, number e of the chunk.
  template <typename Take>
  NORMD_DEVICE void each(const Take& take) const {
#pragma unroll
    for (int i = 0; i < chunk_elements; i += access) {
      float some[access];
      load(i, some);
#pragma unroll
      for (int k = 0; k < access; ++k) take(i + k, some[k]);
    }
  }
};

// Of rows that are held as floats.
NORMD_DEVICE void work_in_registers(const Chunk& chunk, const ThreadAffine& affine, float epsilon,
                                    RowMoments (&moments)[chunk_rows]) {
  float values[chunk_elements];
  chunk.each([&](int e, float value) { values[e] = value; });
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    moments[r] = normalise_row(values + r * row_columns, affine, epsilon);
  }
#pragma unroll
  for (int i = 0; i < chunk_elements; i += access) {
    float some[access];
#pragma unroll
    for (int k = 0; k < access; ++k) some[k] = values[i + k];
    chunk.store(i, some);
  }
}

// Of wider rows, the sums of x - value[r] and of its square, of each row a pair: each pass takes
// them from shared memory.
NORMD_DEVICE void sums_about(const Chunk& chunk, const float (&value)[chunk_rows],
                             float (&sums)[2 * chunk_rows]) {
  ChainSums chains_of[chunk_rows] = {};
  chunk.each([&](int e, float of_x) {
    const int r = e / row_columns;
    const int column = e % row_columns;
    chains_of[r].add(column, column < chains, of_x - value[r]);
  });
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    sums[2 * r] = chains_total(chains_of[r].deviation);
    sums[2 * r + 1] = chains_total(chains_of[r].square);
  }
}

// As normalise() has it.
template <bool from_base>
NORMD_DEVICE void normalise_chunk(const Chunk& chunk, const ThreadAffine& affine,
                                  const RowMoments (&moments)[chunk_rows]) {
#pragma unroll
  for (int i = 0; i < chunk_elements; i += access) {
    float some[access];
    chunk.load(i, some);
#pragma unroll
    for (int k = 0; k < access; ++k) {
      const RowMoments& of_row = moments[(i + k) / row_columns];
      if constexpr (from_base) some[k] -= of_row.base;
      some[k] = affine.apply((i + k) % row_columns,
                             fused_multiply_add(some[k], of_row.rstd, of_row.shift));
    }
    chunk.store(i, some);
  }
}

NORMD_DEVICE void work_in_shared(const Chunk& chunk, const ThreadAffine& affine, float epsilon,
                                 RowMoments (&moments)[chunk_rows]) {
  float means[chunk_rows] = {};
  float sums[2 * chunk_rows];
  sums_about(chunk, means, sums);
  FirstMoments first[chunk_rows];
  bool plain = true;
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    first[r] = first_moments(sums[2 * r], sums[2 * r + 1], epsilon);
    moments[r] = first[r].row;
    means[r] = first[r].found.correction;
    plain = plain && first[r].plain;
  }
  if (plain) {
    normalise_chunk<false>(chunk, affine, moments);
    return;
  }
  sums_about(chunk, means, sums);
#pragma unroll
  for (int r = 0; r < chunk_rows; ++r) {
    moments[r] = moments_again(first[r], sums[2 * r], sums[2 * r + 1], epsilon);
  }
  normalise_chunk<true>(chunk, affine, moments);
}

}  // namespace normd
