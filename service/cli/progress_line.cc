#include "service/cli/progress_line.h"

#include <ostream>

#include "service/cli/escape.h"
#include "service/cli/quantity.h"

namespace normd {

std::string progress_text(const v1::TuneProgress& progress) {
  std::string text = escaped(progress.stage());
  if (progress.candidates() > 0) {
    text += ": " + std::to_string(progress.compiled()) + " of " +
            std::to_string(progress.candidates()) + " compiled, " +
            std::to_string(progress.gated()) + " passed, " + std::to_string(progress.refused()) +
            " refused";
  }
  if (progress.best_ns() > 0) {
    text += ", best " + format_ns(progress.best_ns());
    const std::string share = format_share(progress.copy_ns(), progress.best_ns());
    if (!share.empty()) text += " (" + share + " of copy)";
  }
  const std::string rounds = rounds_text(progress.rounds_kept(), progress.rounds_discarded());
  if (!rounds.empty()) text += ", " + rounds;
  if (progress.elapsed_ms() > 0) {
    text += ", " + format_ns(1e6 * static_cast<double>(progress.elapsed_ms()));
  }
  return text;
}

std::string rounds_text(int kept, int discarded) {
  if (kept == 0 && discarded == 0) return "";
  std::string text = std::to_string(kept) + (kept == 1 ? " round" : " rounds");
  if (discarded > 0) text += ", " + std::to_string(discarded) + " more thrown away";
  return text;
}

void ProgressLine::show(const v1::TuneProgress& progress) {
  if (style_ == Style::rewritten) {
    out_ << "\r\x1b[K" << progress_text(progress) << std::flush;
    line_is_open_ = true;
  } else if (style_ == Style::plain && progress.stage() != stage_) {
    out_ << progress_text(progress) << "\n" << std::flush;
  }
  stage_ = progress.stage();
}

void ProgressLine::finish() {
  if (line_is_open_) out_ << "\r\x1b[K" << std::flush;
  line_is_open_ = false;
}

}  // namespace normd
