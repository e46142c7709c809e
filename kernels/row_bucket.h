// RowBucket: a range of row counts that shares one winner. Its edges depend on the problem and the
// DeviceSpec only, never on what was asked before, so that every process finds the same bucket.
// Plain value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/problem.h"

namespace normd {

enum class BucketMode : std::uint8_t {
  bucketed = 1,          // edges where the number of rows per multiprocessor doubles
  single_row_count = 2,  // a winner for exactly this many rows
  batch_invariant = 3,   // one winner per width: a row's bits do not depend on the batch
};

struct RowBucket {
  std::int64_t rows_min = 1;
  std::int64_t rows_max = 0;  // 0: no upper end

  bool operator==(const RowBucket&) const = default;
  bool contains(std::int64_t rows) const {
    return rows >= rows_min && (rows_max == 0 || rows <= rows_max);
  }
};

// The bucket that holds problem.rows (at least 1). In mode `bucketed` the upper ends are 1 and
// sm_count times a power of two; the last bucket begins where x and y together pass
// DeviceSpec::measure_bytes and is open.
RowBucket row_bucket(const Problem& problem, const DeviceSpec& spec, BucketMode mode);

// The row counts at which a bucket is measured: both its edges, once if they are the same. The
// open end stands for measure_bytes worth of rows, but at least twice rows_min.
std::vector<std::int64_t> measured_rows(const Problem& problem, const DeviceSpec& spec,
                                        const RowBucket& bucket);

std::string to_text(const RowBucket& bucket);  // "133..264", "1..1", "33793.." when open
Result<RowBucket> parse_row_bucket(std::string_view text);
std::string_view bucket_mode_name(BucketMode mode);
std::optional<BucketMode> parse_bucket_mode(std::string_view name);

}  // namespace normd
