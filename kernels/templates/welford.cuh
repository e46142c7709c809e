// Moments: how many values, their mean and the sum of their squared deviations from it, kept up to
// date value by value (Welford) and merged side by side (Chan).
#pragma once

namespace normd {

struct Moments {
  float count = 0.0f;
  float mean = 0.0f;
  float m2 = 0.0f;

  NORMD_DEVICE void add(float value) {
    count += 1.0f;
    const float before = value - mean;
    mean += before / count;
    m2 = fused_multiply_add(before, value - mean, m2);
  }
};

// An empty side changes nothing.
NORMD_DEVICE Moments merge(const Moments& a, const Moments& b) {
  if (a.count == 0.0f) return b;
  if (b.count == 0.0f) return a;
  const float count = a.count + b.count;
  const float difference = b.mean - a.mean;
  const float share = b.count / count;
  return {count, fused_multiply_add(difference, share, a.mean),
          a.m2 + b.m2 + difference * difference * a.count * share};
}

// Merges the moments of the lanes of a warp. The two sides of a merge round differently, so every
// lane takes over what lane 0 found.
NORMD_DEVICE Moments merge_lanes(Moments moments) {
#pragma unroll
  for (int mask = warp_lanes / 2; mask > 0; mask /= 2) {
    const Moments other = {shuffle_xor(moments.count, mask), shuffle_xor(moments.mean, mask),
                           shuffle_xor(moments.m2, mask)};
    moments = merge(moments, other);
  }
  return {shuffle_from(moments.count, 0), shuffle_from(moments.mean, 0),
          shuffle_from(moments.m2, 0)};
}

}  // namespace normd
