// Mutants: a real template text with some changes, for tests of what must not pass the gate and of
// what such a kernel may leave behind. For test programs only; one thread.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/tuner/worker/test_device.h"

namespace normd {

struct Change {
  std::string from;
  std::string to;
};

// Of block_registers, which problem_of() is for.
inline const Change no_second_pass{"const bool near = near_enough(found, sum, fine);",
                                   "const bool near = true;"};
inline const std::vector<Change> wrong_epsilon = {
    {"const float v = count.divide(found.squares) + epsilon;",
     "const float v = count.divide(found.squares) + 1.01f * epsilon;"}};

// Where a row of x or of y begins, another way.
inline Change x_row_offset(const std::string& elements) {
  return {"static_cast<const x_type*>(arguments.x) + row * stride",
          "static_cast<const x_type*>(arguments.x) + " + elements};
}
inline Change y_row_offset(const std::string& elements) {
  return {"static_cast<y_type*>(arguments.y) + row * stride",
          "static_cast<y_type*>(arguments.y) + " + elements};
}

// By every thread that has a row, before anything else.
inline std::vector<Change> at_the_start(const std::string& statement) {
  const std::string before = "  Rows rows{arguments, {member}, row};\n";
  return {{before, "  " + statement + "\n" + before}};
}
// By one thread of each plain row.
inline std::vector<Change> at_the_end(const std::string& statement) {
  const std::string before = "    rows.store(first, affine);\n";
  return {{before, before + "if (member == 0) {\n" + statement + "\n}\n"}};
}

// An odd width, and several warps per row. Strided rows keep the alignment of their class, so that
// packs are wide and the last one is partial.
inline Problem problem_of(DType dtype = DType::fp32, RowsLayout layout = RowsLayout::contiguous) {
  return {.rows = 5,
          .columns = 1001,
          .x = dtype,
          .y = dtype,
          .gamma = DType::fp32,
          .beta = DType::fp32,
          .stats = Stats::mean_rstd,
          .rows_layout = layout,
          .align_bytes = 16};
}

// The one with the widest packs among those with several warps, or with any number of threads.
inline Candidate candidate_of(const Problem& problem, int threads_min = 64) {
  const DeviceSpec& spec = test_device_spec();
  std::optional<Candidate> widest;
  for (const Candidate& candidate : enumerate(*find_template("block_registers"), problem, spec)) {
    if (candidate.value("rows_per_block") != 1 || candidate.value("threads") < threads_min) {
      continue;
    }
    if (!widest || candidate.value("vector_bytes") > widest->value("vector_bytes")) {
      widest = candidate;
    }
  }
  EXPECT_TRUE(widest) << "no such candidate for " << to_text(problem);
  return widest.value_or(Candidate{});
}

inline Source mutant(const Problem& problem, const Candidate& candidate,
                     const std::vector<Change>& changes) {
  Source source = render(candidate, problem, test_device_spec());
  for (const Change& change : changes) {
    std::size_t at = source.text.find(change.from);
    EXPECT_NE(at, std::string::npos) << "the text has no '" << change.from << "': mend this test";
    for (; at != std::string::npos; at = source.text.find(change.from, at + change.to.size())) {
      source.text.replace(at, change.from.size(), change.to);
    }
  }
  return source;
}

}  // namespace normd
