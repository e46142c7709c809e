// Packs that do not begin where accesses may: how far an address lies behind one that does, what a
// tensor of any alignment holds as aligned packs in shared memory, and a warp's packs stored to
// where they do not begin on an access.
#pragma once

#include "row_packs.cuh"

namespace normd {

// Elements of an access, and how many of them `address` lies behind where one may begin.
template <typename T>
constexpr int access_elements = 16 / static_cast<int>(sizeof(T));
template <typename T>
NORMD_DEVICE int behind_access(const T* address) {
  return static_cast<int>(reinterpret_cast<unsigned long long>(address) / sizeof(T) %
                          access_elements<T>);
}

// As many elements of two accesses that follow each other as one has, from the `begin`-th on. By
// words, and by halving steps, since registers have no index.
template <typename T, int count>
NORMD_DEVICE Pack<T, count> from_two(const Pack<T, count>& first, const Pack<T, count>& second,
                                     int begin) {
  static_assert(count == access_elements<T>, "four words");
  unsigned word[8];
  copy_bytes<16>(word, &first);
  copy_bytes<16>(word + 4, &second);
  const int words = begin * static_cast<int>(sizeof(T)) / 4;
  const bool two = (words & 2) != 0;
  const bool one = (words & 1) != 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) word[k] = two ? word[k + 2] : word[k];
#pragma unroll
  for (int k = 0; k < 5; ++k) word[k] = one ? word[k + 1] : word[k];
  if constexpr (sizeof(T) == 2) {
    const bool half = begin % 2 != 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) word[k] = half ? word[k] >> 16 | word[k + 1] << 16 : word[k];
  }
  Pack<T, count> out;
  copy_bytes<16>(&out, word);
  return out;
}

// The row's gamma or beta from column `lead` on, `elements` of them in shared memory, and after
// them those `edge_elements` columns that edge_column(i) names, none where that is negative. Each
// piece of 16 bytes comes out of two aligned accesses; at both ends, where these would reach beyond
// the tensor, one by one.
template <typename T, int elements, int edge_elements>
struct SharedShifted {
  static constexpr int piece = access_elements<T>;
  static constexpr int pieces = (elements + piece - 1) / piece;
  static constexpr int edges_at = pieces * piece;
  static constexpr int bytes = (edges_at + edge_elements) * static_cast<int>(sizeof(T));
  static constexpr int last = 1 + (pack + piece - 2 + piece - 1) / piece;  // pieces
  static constexpr int end = pieces - last;
  static constexpr int singles = (1 + last) * piece;
  static constexpr int batch = 4;  // pieces that a thread asks for before it waits
  static_assert(elements <= row_columns && end > 1, "wide rows");
  static_assert(singles + edge_elements <= block_threads && bytes % 16 == 0, "of wide blocks");

  // By every thread of the block.
  template <typename EdgeColumn>
  static NORMD_DEVICE void fill(const void* from, int lead, EdgeColumn edge_column, T* to) {
    const T* const tensor = static_cast<const T*>(from);
    const int thread = thread_index();
    const bool of_edge = thread >= singles;
    const int single = thread < piece ? thread
                       : of_edge      ? edges_at + thread - singles
                                      : end * piece + thread - piece;
    int column = of_edge ? edge_column(thread - singles) : lead + single;
    if (column >= row_columns || thread >= singles + edge_elements) column = -1;
    const T value = column >= 0 ? tensor[column] : T{};
    const int behind = behind_access(tensor + lead);
    const T* const aligned = tensor + lead - behind;
#pragma unroll 1
    for (int i = 1 + thread; i < end; i += batch * block_threads) {
      Pack<T, piece> first[batch];
      Pack<T, piece> second[batch];
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        const int at = smaller_of(i + b * block_threads, end - 1);
        first[b] = load_pack<Hint::read_only, T, piece>(aligned + at * piece);
        second[b] = load_pack<Hint::read_only, T, piece>(aligned + (at + 1) * piece);
      }
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        const int at = i + b * block_threads;
        if (at < end) store_shared(to + at * piece, from_two(first[b], second[b], behind));
      }
    }
    if (thread < singles + edge_elements) to[single] = value;
  }
};

// The same pack of the lane before.
template <typename T, int count>
NORMD_DEVICE Pack<T, count> of_lane_before(const Pack<T, count>& mine) {
  constexpr int words = static_cast<int>(sizeof(T)) * count / 4;
  unsigned word[words];
  copy_bytes<4 * words>(word, &mine);
#pragma unroll
  for (int i = 0; i < words; ++i) {
    word[i] = float_to_bits(
        shuffle_from(bits_to_float(word[i]), (thread_index() + warp_lanes - 1) % warp_lanes));
  }
  Pack<T, count> before;
  copy_bytes<4 * words>(&before, word);
  return before;
}

// By all lanes of a warp, whose packs follow each other in y: those from lane 0 to the `last` one
// are stored, to addresses that all lie `behind` where an access may begin. What two neighbours
// have of an access goes as one.
template <typename T, int count>
NORMD_DEVICE void store_behind(T* to, const Pack<T, count>& y, int behind, bool stored, bool last) {
  const Pack<T, count> before = of_lane_before(y);
  if (!stored) return;
  const bool first = thread_index() % warp_lanes == 0;
  const int own = count - behind;  // elements that end the access which the lane before begins
  if (!first) store_pack(to - behind, from_two(before, y, own));
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (k < own ? first : last) to[k] = y.element[k];
  }
}

}  // namespace normd
