// Problem: what to compute, and nothing about where or how. It holds no pointers; epsilon is a
// run-time argument. y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over each row, the
// variance dividing by `columns`. Plain value with one canonical text; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/dtype.h"
#include "kernels/error.h"

namespace normd {

enum class Op : std::uint8_t { layer_norm = 1 };

// Which statistics are wanted beside y. Both are fp32, one per row.
enum class Stats : std::uint8_t { none = 0, mean = 1, rstd = 2, mean_rstd = 3 };

// Columns are always contiguous. `contiguous`: each row of x and y starts `columns` elements after
// the one before. `strided`: x and y have one row stride each, at least `columns`, a run-time
// argument.
enum class RowsLayout : std::uint8_t { contiguous = 1, strided = 2 };

struct Problem {
  Op op = Op::layer_norm;
  std::int64_t rows = 0;     // leading dimensions folded together
  std::int64_t columns = 0;  // normalised dimensions folded together
  DType x = DType::fp32;
  DType y = DType::fp32;
  std::optional<DType> gamma;  // none: a factor of one
  std::optional<DType> beta;   // none: nothing added
  Stats stats = Stats::none;
  RowsLayout rows_layout = RowsLayout::contiguous;
  // The largest power of two, at most DeviceSpec::vector_bytes_max, that divides the base address
  // of each of x, y, gamma and beta and, when strided, both row strides in bytes. Each tensor is
  // aligned to its own element size whatever this says.
  int align_bytes = 16;

  bool operator==(const Problem&) const = default;
};

inline bool wants_mean(Stats stats) {
  return (static_cast<int>(stats) & 1) != 0;
}
inline bool wants_rstd(Stats stats) {
  return (static_cast<int>(stats) & 2) != 0;
}
Stats make_stats(bool mean, bool rstd);

// The alignment that every row start of x and of y is sure to have: align_bytes, reduced when rows
// are contiguous and a row's bytes are not a multiple of it. gamma and beta have align_bytes.
int row_align_bytes(const Problem& problem);

// Bytes that must cross the memory bus at the least: x in, y, mean and rstd out, gamma and beta
// once.
double useful_bytes(const Problem& problem);

// The element types as NormArguments::flags (arguments.h) carries them.
unsigned dtype_flags(const Problem& problem);

// `layer_norm rows=4096 columns=8192 x=bf16 y=bf16 gamma=bf16 beta=none stats=none
//  rows_layout=contiguous align_bytes=16`, on one line. parse_problem reads exactly this form.
std::string to_text(const Problem& problem);
Result<Problem> parse_problem(std::string_view text);

// Refuses what no kernel may be asked for: negative rows, columns < 1, sizes whose products
// overflow or pass the limits of limits.h, an alignment that is no power of two or smaller than an
// element. The Error names the field ("rows", "columns", "align_bytes").
Result<void> validate(const Problem& problem);

std::string_view stats_name(Stats stats);              // none, mean, rstd, mean_rstd
std::string_view rows_layout_name(RowsLayout layout);  // contiguous, strided
std::optional<Stats> parse_stats(std::string_view name);
std::optional<RowsLayout> parse_rows_layout(std::string_view name);

}  // namespace normd
