// RowSpan: how rows of one tensor lie in memory: `columns` elements, then a gap up to the stride.
// Arithmetic on host bytes only. Plain value; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/problem.h"

namespace normd {

struct RowSpan {
  DType dtype = DType::fp32;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // elements

  // From the first element of the first row to the last of the last.
  std::size_t bytes(std::int64_t rows) const;
  // Whether every byte of every gap is `byte`.
  bool gaps_hold(const std::vector<char>& span, std::int64_t rows, unsigned char byte) const;
};

// How x and y of a problem lie in a worker's buffers, for the gate and for the clock alike: strided
// rows one and two alignment steps longer than needed, so that the strides differ and every row
// starts as aligned as the problem promises; contiguous rows without gaps.
struct BufferSpans {
  RowSpan x;
  RowSpan y;
};
BufferSpans buffer_spans(const Problem& problem);

// Strided rows whose strides are as little above 2^32 elements. In 32 bits, elements or bytes, the
// offset of a row is that of another place a few steps behind the first row's begin.
BufferSpans far_spans(const Problem& problem);

}  // namespace normd
