// Where a row's origin (moments.cuh) comes from: the median of three of its first elements, which
// no single outlier moves. For fine rows, whose y shows what far origins cost, it is the median of
// the means of three groups of elements, as many as the row has or a few accesses bring. Each lets
// one normal row in three hundred have a second pass.
#pragma once

#include "accumulator.cuh"
#include "row_packs.cuh"

namespace normd {

// Powers of two, so that of equal values the mean is exactly that value.
NORMD_DEVICE constexpr int origin_group(int elements) {
  return elements >= 12 ? 4 : elements >= 6 ? 2 : elements >= 3 ? 1 : 0;
}

// Of sums over `group` elements each.
template <int group>
NORMD_DEVICE Origin origin_of_sums(const float (&sum)[3]) {
  return {median(sum[0], sum[1], sum[2]) * (1.0f / group), coarse_share_max / group};
}

template <int group>
NORMD_DEVICE float sum_of(const Pack<x_type, group>& x) {
  float values[group];
  to_floats(x, values);
  return tree_sum(values);
}

// Of one element, where there are no three.
template <int count>
NORMD_DEVICE Origin origin_of_first(const Pack<x_type, count>& x) {
  float values[count];
  to_floats(x, values);
  if constexpr (count < 3 || row_columns < 3) {
    return {values[0], coarse_share_max};
  } else {
    return {median(values[0], values[1], values[2]), coarse_share_max};
  }
}

// Of a row in memory: every thread of the row asks for the same few bytes.
NORMD_DEVICE Origin row_origin(const x_type* row) {
  constexpr int align = larger_of(row_align_bytes, static_cast<int>(sizeof(x_type)));
  if constexpr (fine && row_columns >= 12) {
    constexpr int group = align / static_cast<int>(sizeof(x_type)) >= 4 ? 4 : 2;
    Pack<x_type, group> x[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) load_elements<Hint::normal, align>(row + i * group, x[i]);
    return origin_of_sums<group>({sum_of(x[0]), sum_of(x[1]), sum_of(x[2])});
  } else {
    Pack < x_type, row_columns<4 ? 1 : 4> first;
    load_elements<Hint::normal, align>(row, first);
    return origin_of_first(first);
  }
}

// Of a part of at least `columns_min` columns in shared memory.
template <int columns_min>
NORMD_DEVICE Origin part_origin(const x_type* part) {
  if constexpr (fine) {
    static_assert(columns_min >= 12, "a part is shared by a warp or more");
    Pack<x_type, 4> x[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) x[i] = load_shared_here<x_type, 4>(part + i * 4);
    return origin_of_sums<4>({sum_of(x[0]), sum_of(x[1]), sum_of(x[2])});
  } else {
    return origin_of_first(load_shared_here<x_type, pack>(part));
  }
}

// Of elements that a thread holds, from number `begin` on.
template <int group, int packs>
NORMD_DEVICE float sum_of_held(const Pack<x_type, pack> (&x)[packs], int begin) {
  float values[group];
#pragma unroll
  for (int k = 0; k < group; ++k) {
    values[k] = to_float(x[(begin + k) / pack].element[(begin + k) % pack]);
  }
  return tree_sum(values);
}

// How many elements each of the first `givers` of a row's lanes has of it.
template <int lanes, int givers, int packs>
NORMD_DEVICE constexpr int elements_of_givers() {
  int held = 0;
  while (held < packs && (held * lanes + givers) * pack <= row_columns) ++held;
  return held * pack;
}

// Of a row that `lanes` neighbouring lanes hold: a mean from each of three of them, or all three
// from the first.
template <int lanes, int packs>
NORMD_DEVICE Origin lanes_origin(const Pack<x_type, pack> (&x)[packs]) {
  constexpr int givers = lanes >= 4 ? 3 : 1;
  constexpr int group = origin_group(elements_of_givers<lanes, givers, packs>() * givers);
  const int first_lane = thread_index() % warp_lanes & ~(lanes - 1);
  if constexpr (!fine || group == 0) {
    Origin first = origin_of_first(x[0]);
    if constexpr (lanes > 1) first.value = shuffle_from(first.value, first_lane);
    return first;
  } else if constexpr (givers == 3) {
    const float own = sum_of_held<group>(x, 0);
    return origin_of_sums<group>({shuffle_from(own, first_lane), shuffle_from(own, first_lane + 1),
                                  shuffle_from(own, first_lane + 2)});
  } else {
    Origin first = origin_of_sums<group>(
        {sum_of_held<group>(x, 0), sum_of_held<group>(x, group), sum_of_held<group>(x, 2 * group)});
    if constexpr (lanes > 1) first.value = shuffle_from(first.value, first_lane);
    return first;
  }
}

}  // namespace normd
