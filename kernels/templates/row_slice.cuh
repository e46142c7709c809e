// Slice: the share of one row that each of `width` neighbouring threads holds in registers, packed
// as it was loaded: packs `member`, `member + width`, ... of the row. The steps over it, each a
// loop that unrolls whole.
#pragma once

#include "row_packs.cuh"

namespace normd {

// What a thread may have at most where so many blocks are to share a multiprocessor, and what it
// needs beside x, gamma and beta.
NORMD_DEVICE constexpr int registers_for(int blocks) {
  return smaller_of(255, 65536 / (block_threads * blocks) / 8 * 8);
}
constexpr int other_registers = 40;
// Where fewer are given out, the compilers make do with these.
constexpr int fewest_registers = 30;

// Whether so many packs of x fit as floats, a register for each element, beside what else is held.
NORMD_DEVICE constexpr bool fits_as_floats(int packs, int held_registers, int registers_there) {
  return packs * pack + held_registers + other_registers <= registers_there;
}

// `columns_held`: of the row, or of one block's part of it, in whole packs; other parts may have up
// to `packs_fewer` packs less.
template <int width, int columns_held = row_columns, int packs_fewer = 0>
struct Slice {
  static constexpr int held_packs = (columns_held + pack - 1) / pack;
  static constexpr int packs = (held_packs + width - 1) / width;
  using Packs = Pack<x_type, pack>[packs];
  static constexpr int threads = width;

  int member;
  int fewer = 0;  // packs, of this part

  NORMD_DEVICE int column(int i) const { return (member + i * width) * pack; }
  NORMD_DEVICE int column_there(int i) const { return owns(i) ? column(i) : 0; }
  NORMD_DEVICE bool owns(int i) const {
    const int held = packs_fewer > 0 ? held_packs - fewer : held_packs;
    return (i + 1) * width <= held_packs - packs_fewer || member + i * width < held;
  }

  template <Hint hint = Hint::normal>
  NORMD_DEVICE void load(const x_type* row, Packs& x) const {
    const x_type* const first = row + member * pack;  // the others lie at fixed distances
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (owns(i)) {
        load_at<hint, x_align>(first + i * width * pack, column(i), x[i]);
      } else {
        x[i] = Pack<x_type, pack>{};
      }
    }
  }

  // Between two uses: x stays packed in its registers, where floats do not fit.
  template <bool floats_fit>
  static NORMD_DEVICE void keep(Packs& x) {
    if constexpr (!floats_fit) {
#pragma unroll
      for (int i = 0; i < packs; ++i) keep_packed(x[i]);
    }
  }

  // Sums of x and of its square: what is not of the row is zero, and changes neither.
  NORMD_DEVICE void sums(const Packs& x, float& sum, float& square_sum) const {
    ChainSums chains_of = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      float values[pack];
      to_floats(x[i], values);
#pragma unroll
      for (int k = 0; k < pack; ++k) chains_of.add(k, i == 0, values[k]);
    }
    sum = chains_total(chains_of.deviation);
    square_sum = chains_total(chains_of.square);
  }

  // Sums of x - value and of its square, in a second pass, for which nothing but the packs is to be
  // kept in registers.
  NORMD_DEVICE void deviations(const Packs& x, float value, float& deviation_sum,
                               float& square_sum) const {
    ChainSums chains_of = {};
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (!owns(i)) continue;
      Pack<x_type, pack> again = x[i];
      keep_packed(again);
      float values[pack];
      to_floats(again, values);
#pragma unroll
      for (int k = 0; k < pack; ++k) {
        if (!whole_packs && column(i) + k >= row_columns) continue;
        chains_of.add(k, i == 0, values[k] - value);
      }
    }
    deviation_sum = chains_total(chains_of.deviation);
    square_sum = chains_total(chains_of.square);
  }

  // Normalises, applies what `affine` holds, rounds once and stores, by one of two ways. The second
  // has packs of its own: of two uses of the same, the compilers convert all of x ahead.
  template <typename Affine>
  NORMD_DEVICE void store(Packs& x, const RowMoments& moments, const Affine& affine,
                          y_type* row) const {
    if (moments.about_zero()) {
      store_about<false>(x, moments, affine, row);
    } else {
      keep<false>(x);
      store_about<true>(x, moments, affine, row);
    }
  }

  // Of rows that are known to have a base of zero; `from_base`: that may have another.
  template <bool from_base, typename Affine>
  NORMD_DEVICE void store_about(const Packs& x, const RowMoments& moments, const Affine& affine,
                                y_type* row) const {
    y_type* const first = row + member * pack;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      // Where reading gamma and beta cannot go wrong only the store depends on whose the pack is.
      if (!Affine::anywhere && !owns(i)) continue;
      float values[pack];
      normalise<from_base>(x[i], moments, values);
      affine.of(*this, i).apply(values);
      const Pack<y_type, pack> y = from_floats<y_type>(values);
      if (owns(i)) store_at(first + i * width * pack, column(i), y);
    }
  }
};

// gamma and beta of a slice. Where registers allow, they are loaded before the reductions that hide
// their latency, once for all rows of a thread; else each pack is loaded when it is used.
template <typename OfSlice, int x_registers, int registers_there = registers_for(1)>
struct Affine {
  static constexpr int packs = OfSlice::packs;
  static constexpr int registers = packs * ((has_gamma ? pack_registers<gamma_type> : 0) +
                                            (has_beta ? pack_registers<beta_type> : 0));
  static constexpr int others =
      registers_there < registers_for(1) ? fewest_registers : other_registers;
  static constexpr bool held = x_registers + registers + others <= registers_there;
  static constexpr int held_registers = held ? registers : 0;
  static constexpr bool anywhere = held;

  const NormArguments& arguments;
  Pack<gamma_type, pack> gamma[has_gamma && held ? packs : 1] = {};
  Pack<beta_type, pack> beta[has_beta && held ? packs : 1] = {};

  NORMD_DEVICE explicit Affine(const NormArguments& of) : arguments(of) {}

  // Asks for what is held.
  NORMD_DEVICE void ask(const OfSlice& slice) {
    if constexpr (held) {
#pragma unroll
      for (int i = 0; i < packs; ++i) {
        if (!slice.owns(i)) continue;
        load_gamma(arguments, slice.column(i), gamma[has_gamma ? i : 0]);
        load_beta(arguments, slice.column(i), beta[has_beta ? i : 0]);
      }
    }
  }

  NORMD_DEVICE void wait() const {}

  NORMD_DEVICE AffinePacks of(const OfSlice& slice, int i) const {
    if constexpr (held) {
      return {gamma[has_gamma ? i : 0], beta[has_beta ? i : 0]};
    } else {
      return load_affine(arguments, slice.column(i));
    }
  }
};

}  // namespace normd
