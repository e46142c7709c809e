// Where a row starts, and how the rare path reads and writes it one element at a time, where
// columns and types are compiled in.
#pragma once

namespace normd {

NORMD_DEVICE const x_type* x_row(const NormArguments& arguments, long long row) {
  const long long stride = rows_contiguous ? columns : arguments.x_row_stride;
  return static_cast<const x_type*>(arguments.x) + row * stride;
}

NORMD_DEVICE y_type* y_row(const NormArguments& arguments, long long row) {
  const long long stride = rows_contiguous ? columns : arguments.y_row_stride;
  return static_cast<y_type*>(arguments.y) + row * stride;
}

// How rows whose columns and types are compiled in are read and written.
struct CompiledRow {
  static NORMD_DEVICE long long columns_of(const NormArguments&) { return columns; }
  static NORMD_DEVICE double load(const NormArguments& arguments, long long row, long long column) {
    return to_float(x_row(arguments, row)[column]);
  }
  // gamma, beta and one rounding, of a normalised value.
  static NORMD_DEVICE y_type output(const NormArguments& arguments, long long column,
                                    double value) {
    if constexpr (has_gamma) {
      value *= to_float(static_cast<const gamma_type*>(arguments.gamma)[column]);
    }
    if constexpr (has_beta) {
      value += to_float(static_cast<const beta_type*>(arguments.beta)[column]);
    }
    return from_double<y_type>(value);
  }
  static NORMD_DEVICE void store(const NormArguments& arguments, long long row, long long column,
                                 double value) {
    y_row(arguments, row)[column] = output(arguments, column, value);
  }
  static NORMD_DEVICE void store_statistics(const NormArguments& arguments, long long row,
                                            float mean, float rstd) {
    if constexpr (wants_mean) arguments.mean[row] = mean;
    if constexpr (wants_rstd) arguments.rstd[row] = rstd;
  }
};

}  // namespace normd
