// check_rows: compares an answer with the definition, every element. A block owns a row at a time:
// the definition's two passes over x in double, the bounds of each y, mean and rstd, and a record
// of the worst. x is read four times and y once, in whatever type they have; any width, any stride.
// Time does not matter here, agreement with kernels/reference.h does.
#include "check_bounds.cuh"
#include "double_sum.cuh"

namespace normd {

static_assert(rows_per_block == 1, "as the Launch says");
static_assert(shared_bytes == block_threads * static_cast<int>(sizeof(CheckRecord)) +
                                  block_threads / warp_lanes * 8,
              "as the Launch says");
static_assert((block_threads & (block_threads - 1)) == 0, "halves need a power of two");

// The definition's statistics of one row: the mean as a sum of two, since its rounding is all that
// the plain two-pass loses.
struct Definition {
  double mean_high;
  double mean_low;
  double rstd;
  double x_max_abs;
};

NORMD_DEVICE double block_largest(double largest, double* scratch) {
#pragma unroll
  for (int mask = warp_lanes / 2; mask > 0; mask /= 2) {
    const double other = shuffle_xor(largest, mask);
    largest = other > largest ? other : largest;
  }
  block_barrier();
  if (thread_index() % warp_lanes == 0) scratch[thread_index() / warp_lanes] = largest;
  block_barrier();
  for (int warp = 0; warp < block_threads / warp_lanes; ++warp) {
    largest = scratch[warp] > largest ? scratch[warp] : largest;
  }
  return largest;
}

NORMD_DEVICE Definition definition_of(const CheckArguments& arguments, long long start,
                                      double* scratch) {
  const unsigned kind = kinds_of(arguments.flags).x;
  const auto count = static_cast<double>(arguments.columns);
  double sum = 0;
  double largest = 0;
  for (long long i = thread_index(); i < arguments.columns; i += block_threads) {
    const double x = load_any(kind, arguments.x, start + i);
    sum += x;
    largest = magnitude(x) > largest ? magnitude(x) : largest;
  }
  const double mean = double_sum<block_threads>(sum, scratch) / count;
  double deviations = 0;
  double squares = 0;
  for (long long i = thread_index(); i < arguments.columns; i += block_threads) {
    const double deviation = load_any(kind, arguments.x, start + i) - mean;
    deviations += deviation;
    squares += deviation * deviation;
  }
  const double low = double_sum<block_threads>(deviations, scratch) / count;
  const double raw = double_sum<block_threads>(squares, scratch) / count - low * low;
  const double variance = raw < 0 ? 0 : raw;
  const double epsilon = static_cast<double>(arguments.epsilon);
  largest = block_largest(largest, scratch);
  return {mean, magnitude(mean) < no_limit() ? low : 0.0, 1.0 / square_root(variance + epsilon),
          largest};
}

// One value of the answer.
struct Seen {
  long long row;
  long long column;
  double got;
  double expected;
  double bound;
};

NORMD_DEVICE void take(CheckRecord& record, unsigned kind, const Seen& seen) {
  const double ratio = error_over_bound(kind, seen.got, seen.expected, seen.bound);
  if (!(ratio <= 1)) ++record.failures;
  if (record.row >= 0 && ratio <= record.error_over_bound) return;
  record.row = seen.row;
  record.column = seen.column;
  record.got = seen.got;
  record.expected = seen.expected;
  record.bound = seen.bound;
  record.error_over_bound = ratio;
}

NORMD_DEVICE void take_y(CheckRecord& record, unsigned kind, const Seen& seen) {
  take(record, kind, seen);
  const double error = magnitude(seen.got - seen.expected);
  if (!(error < no_limit())) return;
  record.error_max = error > record.error_max ? error : record.error_max;
  record.error_square_sum += error * error;
  record.square_sum += seen.expected * seen.expected;
}

NORMD_DEVICE CheckRecord merge(CheckRecord a, const CheckRecord& b) {
  a.failures += b.failures;
  a.error_max = b.error_max > a.error_max ? b.error_max : a.error_max;
  a.error_square_sum += b.error_square_sum;
  a.square_sum += b.square_sum;
  if (b.row < 0 || (a.row >= 0 && b.error_over_bound <= a.error_over_bound)) return a;
  a.row = b.row;
  a.column = b.column;
  a.got = b.got;
  a.expected = b.expected;
  a.bound = b.bound;
  a.error_over_bound = b.error_over_bound;
  return a;
}

NORMD_DEVICE void check_row(const CheckArguments& arguments, long long row, double* scratch,
                            CheckRecord& record) {
  const Kinds kinds = kinds_of(arguments.flags);
  const long long x_start = row * arguments.x_row_stride;
  const Definition definition = definition_of(arguments, x_start, scratch);
  const double mean = definition.mean_high + definition.mean_low;
  const double rstd = definition.rstd;
  const double widening =
      arguments.sequential_adds > 0 ? taught_widening(arguments.sequential_adds, mean, rstd) : 0.0;
  if (widening > widening_max) return;
  if (thread_index() == 0 && arguments.mean != nullptr &&
      mean_counts(arguments.sequential_adds, arguments.mean[row], mean)) {
    take(record, 1u,
         {row, -1, arguments.mean[row], mean, mean_bound(definition.x_max_abs, widening, rstd)});
  }
  if (thread_index() == 0 && arguments.rstd != nullptr) {
    take(record, 1u, {row, -2, arguments.rstd[row], rstd, rstd_bound(rstd, widening)});
  }
  for (long long i = thread_index(); i < arguments.columns; i += block_threads) {
    const double x = load_any(kinds.x, arguments.x, x_start + i);
    const double normalised = (x - definition.mean_high - definition.mean_low) * rstd;
    const double gamma = kinds.gamma != 0u ? load_any(kinds.gamma, arguments.gamma, i) : 1.0;
    const double beta = kinds.beta != 0u ? load_any(kinds.beta, arguments.beta, i) : 0.0;
    const double expected = normalised * gamma + beta;
    const double got = load_any(kinds.y, arguments.y, row * arguments.y_row_stride + i);
    take_y(record, kinds.y,
           {row, i, got, expected, y_bound(kinds.y, expected, normalised, gamma, beta, widening)});
  }
}

NORMD_KERNEL(normd_check_rows, CheckArguments, block_threads) {
  CheckRecord* records = shared_memory<CheckRecord>();
  double* scratch = reinterpret_cast<double*>(records + block_threads);
  CheckRecord record = {0, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  for (long long row = block_index(); row < arguments.rows; row += grid_blocks()) {
    check_row(arguments, row, scratch, record);
  }
  records[thread_index()] = record;
  block_barrier();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread_index() < half) {
      records[thread_index()] = merge(records[thread_index()], records[thread_index() + half]);
    }
    block_barrier();
  }
  if (thread_index() == 0) arguments.records[block_index()] = records[0];
}

}  // namespace normd
