// The pieces that the exact templates share: a row as packs of `vector_bytes` of x, where the last
// pack may be partial; loading, storing, gamma and beta of one pack; the sums and the moments of a
// row.
#pragma once

#include "compiled_row.cuh"
#include "moments.cuh"

namespace normd {

constexpr int row_columns = static_cast<int>(columns);
constexpr int pack = vector_bytes / static_cast<int>(sizeof(x_type));
constexpr int row_packs = (row_columns + pack - 1) / pack;
constexpr bool whole_packs = row_columns % pack == 0;  // else the last pack of a row is partial
constexpr bool fine = sizeof(y_type) == 4;             // as moments.cuh has it

// Of x, by the axis x_evict_last; kernels/cache_hints.h says what for.
NORMD_DEVICE constexpr Hint x_hint_of(int evict_last) {
  return evict_last != 0 ? Hint::last_to_leave : Hint::normal;
}

// Registers that one pack of T takes.
template <typename T>
constexpr int pack_registers = larger_of(1, pack* static_cast<int>(sizeof(T)) / 4);

constexpr int x_align = vector_bytes;
constexpr int y_align = larger_of(row_align_bytes, static_cast<int>(sizeof(y_type)));
constexpr int gamma_align = larger_of(align_bytes, static_cast<int>(sizeof(gamma_type)));
constexpr int beta_align = larger_of(align_bytes, static_cast<int>(sizeof(beta_type)));

NORMD_DEVICE float divide_by_columns(float value) {
  return divisor_of(row_columns).divide(value);
}

// Independent chains of additions over a thread's packs, and what they come to together.
constexpr int chains = smaller_of(pack, 4);

// Chains begin with a value, not with zero: an addition less each.
struct ChainSums {
  float deviation[chains];
  float square[chains];

  // The k-th deviation of a pack, the first that the thread has or another.
  NORMD_DEVICE void add(int k, bool first, float value) {
    if (first && k < chains) {
      deviation[k] = value;
      square[k] = value * value;
    } else {
      deviation[k % chains] += value;
      square[k % chains] = fused_multiply_add(value, value, square[k % chains]);
    }
  }
};

NORMD_DEVICE float chains_total(const float (&part)[chains]) {
  if constexpr (chains == 4) return (part[0] + part[1]) + (part[2 % chains] + part[3 % chains]);
  if constexpr (chains == 2) return part[0] + part[1 % chains];
  return part[0];
}

// Elements of the pack that begins at `column` and lies at `from`, zero where the row has ended.
template <Hint hint, int align, typename T>
NORMD_DEVICE void load_at(const T* from, int column, Pack<T, pack>& out) {
  if (whole_packs || column + pack <= row_columns) {
    load_elements<hint, align>(from, out);
  } else {
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      out.element[k] = column + k < row_columns ? from[k] : T{};
    }
  }
}

// Stores what of the pack that begins at `column` lies in the row.
NORMD_DEVICE void store_at(y_type* to, int column, const Pack<y_type, pack>& y) {
  if (whole_packs || column + pack <= row_columns) {
    store_elements<y_align>(to, y);
  } else {
#pragma unroll
    for (int k = 0; k < pack; ++k) {
      if (column + k < row_columns) to[k] = y.element[k];
    }
  }
}

// gamma and beta of one pack's columns.
struct AffinePacks {
  Pack<gamma_type, pack> gamma;
  Pack<beta_type, pack> beta;

  // values * gamma + beta
  NORMD_DEVICE void apply(float (&values)[pack]) const {
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
};

// Of packs that lie in shared memory. A template, since only whole words are read there, and narrow
// packs are none.
template <typename Gamma, typename Beta>
NORMD_DEVICE AffinePacks shared_affine_packs(const Gamma* gammas, const Beta* betas) {
  AffinePacks packs;
  if constexpr (has_gamma) packs.gamma = load_shared_here<Gamma, pack>(gammas);
  if constexpr (has_beta) packs.beta = load_shared_here<Beta, pack>(betas);
  return packs;
}

NORMD_DEVICE void load_gamma(const NormArguments& arguments, int column,
                             Pack<gamma_type, pack>& gamma) {
  if constexpr (has_gamma) {
    load_at<Hint::read_only, gamma_align>(static_cast<const gamma_type*>(arguments.gamma) + column,
                                          column, gamma);
  }
}

NORMD_DEVICE void load_beta(const NormArguments& arguments, int column,
                            Pack<beta_type, pack>& beta) {
  if constexpr (has_beta) {
    load_at<Hint::read_only, beta_align>(static_cast<const beta_type*>(arguments.beta) + column,
                                         column, beta);
  }
}

// Loaded now.
NORMD_DEVICE AffinePacks load_affine(const NormArguments& arguments, int column) {
  AffinePacks packs;
  load_gamma(arguments, column, packs.gamma);
  load_beta(arguments, column, packs.beta);
  return packs;
}

NORMD_DEVICE RowMoments row_moments(const Moments& row, float epsilon) {
  return row_moments<fine>(row, divisor_of(row_columns), epsilon);
}

NORMD_DEVICE FirstMoments first_moments(float sum, float square_sum, float epsilon) {
  return first_moments<fine>(sum, square_sum, divisor_of(row_columns), epsilon);
}

// Of any row, plain or not, with the sums of x - first.found.correction and of its square, which
// matter only where that was not near enough.
NORMD_DEVICE RowMoments moments_again(const FirstMoments& first, float deviation_sum,
                                      float square_sum, float epsilon) {
  if (first.plain) return first.row;  // whose zeros have the signs that it gives them
  const Moments found = first.near ? first.found
                                   : second_moments(first.found.correction, deviation_sum,
                                                    square_sum, divisor_of(row_columns));
  return row_moments(found, epsilon);
}

// A pack of x about the row's mean, in units of its deviation; not `from_base`: the base is zero.
template <bool from_base = true>
NORMD_DEVICE void normalise(const Pack<x_type, pack>& x, const RowMoments& moments,
                            float (&values)[pack]) {
  to_floats(x, values);
#pragma unroll
  for (int k = 0; k < pack; ++k) {
    if constexpr (from_base) values[k] -= moments.base;
    values[k] = fused_multiply_add(values[k], moments.rstd, moments.shift);
  }
}

NORMD_DEVICE void store_statistics(const NormArguments& arguments, long long row,
                                   const RowMoments& moments) {
  if constexpr (wants_mean) arguments.mean[row] = moments.mean;
  if constexpr (wants_rstd) arguments.rstd[row] = moments.rstd;
}

}  // namespace normd
