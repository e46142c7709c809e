// LayerNorm in float arithmetic on the CPU, as a block of threads would do it, three ways: the
// hi/lo two-pass, the two-pass of the textbooks, and the variance as mean of squares minus square
// of the mean, which no tolerance may let pass. Included by tests only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace normd {

enum class FloatNorm { hi_lo_two_pass, two_pass, mean_of_squares };

struct FloatRow {
  std::vector<float> y;
  float mean = 0;
  float rstd = 0;
};

// Sum in which each of `threads` threads adds every threads-th value in sequence, and a tree adds
// up the threads.
template <typename Term>
float float_sum(std::size_t count, std::size_t threads, Term term) {
  std::vector<float> part(std::bit_ceil(threads), 0.0f);
  for (std::size_t i = 0; i < count; ++i) part[i % threads] += term(i);
  for (std::size_t half = part.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

inline FloatRow float_norm(FloatNorm how, const std::vector<float>& x, std::size_t threads,
                           float epsilon) {
  const auto count = static_cast<float>(x.size());
  const auto sum = [&](auto term) { return float_sum(x.size(), threads, term); };
  const float high = sum([&](std::size_t i) { return x[i]; }) / count;
  const float squares = sum([&](std::size_t i) {
    const float term = how == FloatNorm::mean_of_squares ? x[i] : x[i] - high;
    return term * term;
  });
  float low = 0;
  if (how == FloatNorm::hi_lo_two_pass) {
    low = sum([&](std::size_t i) { return x[i] - high; }) / count;
  }
  const float shift = how == FloatNorm::mean_of_squares ? high : low;
  const float variance = std::max(0.0f, squares / count - shift * shift);
  FloatRow row{.y = {}, .mean = high + low, .rstd = 1.0f / std::sqrt(variance + epsilon)};
  for (const float value : x) row.y.push_back(((value - high) - low) * row.rstd);
  return row;
}

}  // namespace normd
