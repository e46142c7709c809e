// The pieces that the exact templates share: a row as packs of `vector_bytes` of x, where the last
// pack may be partial; loading, storing, gamma and beta of one pack; the moments of the hi/lo
// two-pass.
#pragma once

#include "compiled_row.cuh"
#include "rescue.cuh"

namespace normd {

constexpr int row_columns = static_cast<int>(columns);
constexpr int pack = vector_bytes / static_cast<int>(sizeof(x_type));
constexpr int row_packs = (row_columns + pack - 1) / pack;
constexpr bool whole_packs = row_columns % pack == 0;  // else the last pack of a row is partial

// Registers that one pack of T takes.
template <typename T>
constexpr int pack_registers = larger_of(1, pack* static_cast<int>(sizeof(T)) / 4);

constexpr int x_align = vector_bytes;
constexpr int y_align = larger_of(row_align_bytes, static_cast<int>(sizeof(y_type)));
constexpr int gamma_align = larger_of(align_bytes, static_cast<int>(sizeof(gamma_type)));
constexpr int beta_align = larger_of(align_bytes, static_cast<int>(sizeof(beta_type)));

// fl(value / columns), but for the last bit in rare cases: one step on from the product with the
// rounded reciprocal, without the slow path that a division carries.
NORMD_DEVICE float divide_by_columns(float value) {
  constexpr float count = static_cast<float>(row_columns);
  constexpr float reciprocal = 1.0f / count;
  const float quotient = value * reciprocal;
  if constexpr ((row_columns & (row_columns - 1)) == 0) return quotient;  // rounded once
  const float remainder = fused_multiply_add(-quotient, count, value);
  return fused_multiply_add(remainder, reciprocal, quotient);
}

// Independent chains of additions over a thread's packs, and what they come to together.
constexpr int chains = smaller_of(pack, 4);

NORMD_DEVICE float chains_total(const float (&part)[chains]) {
  if constexpr (chains == 4) return (part[0] + part[1]) + (part[2 % chains] + part[3 % chains]);
  if constexpr (chains == 2) return part[0] + part[1 % chains];
  return part[0];
}

template <int count>
NORMD_DEVICE float packs_sum(const Pack<x_type, pack> (&x)[count]) {
  float part[chains] = {};
#pragma unroll
  for (int i = 0; i < count; ++i) {
    float values[pack];
    to_floats(x[i], values);
#pragma unroll
    for (int k = 0; k < pack; ++k) part[k % chains] += values[k];
  }
  return chains_total(part);
}

// Elements of the pack at `column`, zero where the row has ended.
template <Hint hint, int align, typename T>
NORMD_DEVICE void load_at(const T* row, int column, Pack<T, pack>& out) {
  if (whole_packs || column + pack <= row_columns) {
    load_elements<hint, align>(row + column, out);
  } else {
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      out.element[k] = column + k < row_columns ? row[column + k] : T{};
    }
  }
}

// Stores what of the pack at `column` lies in the row.
template <Hint hint>
NORMD_DEVICE void store_at(y_type* row, int column, const Pack<y_type, pack>& y) {
  if (whole_packs || column + pack <= row_columns) {
    store_elements<hint, y_align>(row + column, y);
  } else {
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      if (column + k < row_columns) row[column + k] = y.element[k];
    }
  }
}

// values * gamma + beta, of packs that were loaded before.
NORMD_DEVICE void apply_packs(const Pack<gamma_type, pack>& gamma,
                              const Pack<beta_type, pack>& beta, float (&values)[pack]) {
  float scale[pack];
  float offset[pack];
  if constexpr (has_gamma) to_floats(gamma, scale);
  if constexpr (has_beta) to_floats(beta, offset);
#pragma unroll
  for (int k = 0; k < pack; ++k) {
    if constexpr (has_gamma && has_beta) {
      values[k] = fused_multiply_add(values[k], scale[k], offset[k]);
    } else if constexpr (has_gamma) {
      values[k] *= scale[k];
    } else if constexpr (has_beta) {
      values[k] += offset[k];
    }
  }
}

NORMD_DEVICE void load_gamma(const NormArguments& arguments, int column,
                             Pack<gamma_type, pack>& gamma) {
  if constexpr (has_gamma) {
    load_at<Hint::read_only, gamma_align>(static_cast<const gamma_type*>(arguments.gamma), column,
                                          gamma);
  }
}

NORMD_DEVICE void load_beta(const NormArguments& arguments, int column,
                            Pack<beta_type, pack>& beta) {
  if constexpr (has_beta) {
    load_at<Hint::read_only, beta_align>(static_cast<const beta_type*>(arguments.beta), column,
                                         beta);
  }
}

// The same, loading them now.
NORMD_DEVICE void apply_affine(const NormArguments& arguments, int column, float (&values)[pack]) {
  Pack<gamma_type, pack> gamma;
  Pack<beta_type, pack> beta;
  load_gamma(arguments, column, gamma);
  load_beta(arguments, column, beta);
  apply_packs(gamma, beta, values);
}

// What the second pass found, and what normalising needs of it.
struct RowMoments {
  float mean;        // the first mean, which the deviations are taken from
  float correction;  // e: what that mean was off by
  float rstd;
  bool rescue;
};

NORMD_DEVICE RowMoments row_moments(float mean, float deviation_sum, float square_sum,
                                    float epsilon) {
  const float e = divide_by_columns(deviation_sum);
  const float raw = fused_multiply_add(-e, e, divide_by_columns(square_sum));
  const float variance = raw < 0.0f ? 0.0f : raw;  // NaN stays
  const float v = variance + epsilon;
  return {mean, e, reciprocal_sqrt(v), needs_rescue(variance, e, v)};
}

// A pack of x about the row's mean, in units of its deviation.
NORMD_DEVICE void normalise(const Pack<x_type, pack>& x, const RowMoments& moments,
                            float (&values)[pack]) {
  const float shift = -moments.correction * moments.rstd;
  to_floats(x, values);
#pragma unroll
  for (int k = 0; k < pack; ++k) {
    values[k] = fused_multiply_add(values[k] - moments.mean, moments.rstd, shift);
  }
}

// The mean is rounded once, from its high and low part.
NORMD_DEVICE void store_statistics(const NormArguments& arguments, long long row,
                                   const RowMoments& moments) {
  if constexpr (wants_mean) arguments.mean[row] = moments.mean + moments.correction;
  if constexpr (wants_rstd) arguments.rstd[row] = moments.rstd;
}

}  // namespace normd
