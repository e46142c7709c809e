#include "kernels/row_bucket.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

// Rows whose x and y together are the size at which large problems are measured.
std::int64_t rows_of_measure_bytes(const Problem& problem, const DeviceSpec& spec) {
  const auto row_bytes =
      problem.columns * static_cast<std::int64_t>(size_bytes(problem.x) + size_bytes(problem.y));
  return std::max<std::int64_t>(1, spec.measure_bytes / row_bytes);
}

}  // namespace

RowBucket row_bucket(const Problem& problem, const DeviceSpec& spec, BucketMode mode) {
  const std::int64_t rows = std::max<std::int64_t>(1, problem.rows);
  if (mode == BucketMode::single_row_count) return {rows, rows};
  if (mode == BucketMode::batch_invariant) return {1, 0};
  // A quarter of the multiprocessors busy is the first edge above one row; from there each edge
  // doubles the rows per multiprocessor, until the problem is large in every sense. No closed
  // bucket reaches beyond that size, so that measuring one never takes more memory.
  const std::int64_t large = rows_of_measure_bytes(problem, spec);
  if (rows == 1) return {1, 1};
  if (rows > large) return {large + 1, 0};
  std::int64_t rows_min = 2;
  for (std::int64_t four_ends = std::max(1, spec.sm_count);; four_ends *= 2) {
    const std::int64_t rows_max = four_ends / 4;
    if (rows_max < rows_min) continue;
    if (rows <= rows_max) return {rows_min, std::min(rows_max, large)};
    rows_min = rows_max + 1;
  }
}

std::vector<std::int64_t> measured_rows(const Problem& problem, const DeviceSpec& spec,
                                        const RowBucket& bucket) {
  if (bucket.rows_max == bucket.rows_min) return {bucket.rows_min};
  if (bucket.rows_max != 0) return {bucket.rows_min, bucket.rows_max};
  const std::int64_t large = rows_of_measure_bytes(problem, spec);
  return {bucket.rows_min, std::max(large, 2 * bucket.rows_min)};
}

std::string to_text(const RowBucket& bucket) {
  std::string text = std::to_string(bucket.rows_min) + "..";
  if (bucket.rows_max != 0) text += std::to_string(bucket.rows_max);
  return text;
}

Result<RowBucket> parse_row_bucket(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument, "not a row bucket: '" + std::string(text) + "'",
                "rows");
  };
  if (dots == std::string_view::npos) return wrong();
  const auto rows_min = parse_integer(text.substr(0, dots));
  const std::string_view upper = text.substr(dots + 2);
  const auto rows_max = upper.empty() ? std::optional<std::int64_t>(0) : parse_integer(upper);
  if (!rows_min || !rows_max || *rows_min < 1 || (!upper.empty() && *rows_max < *rows_min)) {
    return wrong();
  }
  return RowBucket{*rows_min, *rows_max};
}

std::string_view bucket_mode_name(BucketMode mode) {
  switch (mode) {
    case BucketMode::bucketed:
      return "bucketed";
    case BucketMode::single_row_count:
      return "single_row_count";
    case BucketMode::batch_invariant:
      return "batch_invariant";
  }
  NORMD_CHECK(false);
}

std::optional<BucketMode> parse_bucket_mode(std::string_view name) {
  for (const BucketMode mode :
       {BucketMode::bucketed, BucketMode::single_row_count, BucketMode::batch_invariant}) {
    if (bucket_mode_name(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace normd
