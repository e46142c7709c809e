#include "tuner/worker/row_span.h"

#include <algorithm>

namespace normd {
namespace {

// In elements, what keeps rows aligned to the problem's class.
std::int64_t alignment_step(const Problem& problem, DType dtype) {
  return std::max<std::int64_t>(1, problem.align_bytes / static_cast<int>(size_bytes(dtype)));
}

// A stride for strided rows that is longer than the row by `steps` alignment steps.
RowSpan padded_span(const Problem& problem, DType dtype, int steps) {
  RowSpan span{.dtype = dtype, .columns = problem.columns, .stride = problem.columns};
  if (problem.rows_layout == RowsLayout::contiguous) return span;
  const std::int64_t step = alignment_step(problem, dtype);
  span.stride = (problem.columns + step - 1) / step * step + steps * step;
  return span;
}

RowSpan far_span(const Problem& problem, DType dtype, int steps) {
  return {.dtype = dtype,
          .columns = problem.columns,
          .stride = (std::int64_t{1} << 32) + steps * alignment_step(problem, dtype)};
}

}  // namespace

std::size_t RowSpan::bytes(std::int64_t rows) const {
  return static_cast<std::size_t>((rows - 1) * stride + columns) * size_bytes(dtype);
}

bool RowSpan::gaps_hold(const std::vector<char>& span, std::int64_t rows,
                        unsigned char byte) const {
  const std::size_t size = size_bytes(dtype);
  for (std::int64_t row = 0; row + 1 < rows; ++row) {
    const char* begin = span.data() + static_cast<std::size_t>(row * stride + columns) * size;
    const char* end = span.data() + static_cast<std::size_t>((row + 1) * stride) * size;
    const auto holds = [byte](char c) { return static_cast<unsigned char>(c) == byte; };
    if (!std::all_of(begin, end, holds)) return false;
  }
  return true;
}

BufferSpans buffer_spans(const Problem& problem) {
  return {.x = padded_span(problem, problem.x, 1), .y = padded_span(problem, problem.y, 2)};
}

BufferSpans far_spans(const Problem& problem) {
  return {.x = far_span(problem, problem.x, 1), .y = far_span(problem, problem.y, 2)};
}

}  // namespace normd
