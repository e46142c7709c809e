// Accumulator: a long sum in float that keeps what each addition rounds off, so that thousands of
// equal terms do not drift. Each term should already be the sum of a pack, taken as a tree.
#pragma once

namespace normd {

struct Accumulator {
  float sum = 0.0f;
  float lost = 0.0f;  // what `sum` is above the true sum

  NORMD_DEVICE void add(float term) {
    const float corrected = term - lost;
    const float next = sum + corrected;
    lost = (next - sum) - corrected;
    sum = next;
  }
};

template <int count>
NORMD_DEVICE float tree_sum(const float (&values)[count]) {
  if constexpr (count == 1) {
    return values[0];
  } else {
    float half[count / 2];
#pragma unroll
    for (int i = 0; i < count / 2; ++i) half[i] = values[i] + values[i + count / 2];
    return tree_sum(half);
  }
}

}  // namespace normd
