// TextExpansion: the embedded kernel texts by file name, and their textual expansion: a compiler
// gets one text in which no include is left. Constant data and pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace normd {

// The bytes of one embedded file ("sub_warp.cuh"); empty if there is none of that name.
std::string_view kernel_text(std::string_view file_name);

// Expands embedded files, each once, in the order in which they are added.
class TextExpansion {
 public:
  // For "host" the CUDA bodies are left out, for an architecture the host's; for "" nothing is.
  explicit TextExpansion(std::string_view target) : target_(target) {}

  void add_file(std::string_view file_name);  // checked: the file is embedded
  void add_text(std::string_view text);       // as it is
  std::string take() { return std::move(text_); }

 private:
  bool belongs_to_other_target(std::string_view file_name) const;

  std::string target_;
  std::string seen_;  // " a.cuh b.cuh "
  std::string text_;
};

}  // namespace normd
