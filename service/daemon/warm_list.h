// The list for --warm: shapes, one a line, as `ROWSxCOLUMNS [DTYPE] [field=value ...]`. Fields are
// those of a problem's canonical text: y, gamma, beta, stats, mode. `#` begins a comment; blank
// lines, a byte order mark and carriage returns do not matter. Pure function; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "kernels/problem.h"
#include "kernels/row_bucket.h"

namespace normd {

struct WarmShape {
  Problem problem;
  BucketMode mode = BucketMode::bucketed;

  bool operator==(const WarmShape&) const = default;
};

// Each shape once. The Error names `name` and the line of the first that cannot be read.
Result<std::vector<WarmShape>> parse_warm_list(std::string_view text, std::string_view name);

}  // namespace normd
