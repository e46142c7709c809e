// ProgressLine: a tuning's progress on the error stream: one line that is rewritten on a terminal,
// a plain line at each new stage otherwise. One thread.
#pragma once

#include <iosfwd>
#include <string>

#include "normd/v1/normd.pb.h"

namespace normd {

class ProgressLine {
 public:
  enum class Style { rewritten, plain, silent };
  ProgressLine(std::ostream& out, Style style) : out_(out), style_(style) {}
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;  // two would write over each other's line
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const v1::TuneProgress& progress);
  void finish();  // clears the rewritten line

 private:
  std::ostream& out_;
  Style style_;
  std::string stage_;
  bool line_is_open_ = false;
};

// "racing: 12 of 40 compiled, 10 passed, 2 refused, best 12.4 us (87 % of copy), 1.30 s"
std::string progress_text(const v1::TuneProgress& progress);

// "24 rounds, 1 more thrown away"; empty where no round was run.
std::string rounds_text(int kept, int discarded);

}  // namespace normd
