// The moments of a row out of those of its parts, which the blocks of a cluster sent each other: as
// Chan, Golub and LeVeque put parts together (1983), with means kept as a high and a low part.
#pragma once

#include "cluster.cuh"
#include "row_part.cuh"

namespace normd {

NORMD_DEVICE Message message_of(const Moments& part) {
  return {{part.mean, part.correction, part.squares, 0.0f}};
}

// By whole warps, of which each comes to the same numbers in the same order of additions. All
// `parts` have as many columns.
template <int parts, int columns>
NORMD_DEVICE Moments moments_of_parts(const Message* messages) {
  const Message theirs = messages[thread_index() % parts];
  const float base = messages[0].value[0];
  const float distance = (theirs.value[0] - base) + theirs.value[1];
  const float mean_distance = lanes_sum<parts>(distance) * (1.0f / parts);
  const float off = distance - mean_distance;
  const float squares =
      fused_multiply_add(off * static_cast<float>(columns), off, theirs.value[2]);
  return about(base, mean_distance, lanes_sum<parts>(squares));
}

}  // namespace normd
