#include "kernels/text_expansion.h"

#include <utility>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::string_view include_directive = "#include \"";

// The file's name in `#include "kernels/templates/row_slice.cuh"`, or empty for any other line.
std::string_view included_file(std::string_view line) {
  if (!line.starts_with(include_directive)) return {};
  line.remove_prefix(include_directive.size());
  NORMD_CHECK(line.find('"') != std::string_view::npos);
  line = line.substr(0, line.find('"'));
  return line.substr(line.rfind('/') + 1);  // npos + 1 is 0: the whole name
}

}  // namespace

bool TextExpansion::belongs_to_other_target(std::string_view file_name) const {
  if (target_.empty()) return false;
  return file_name.ends_with(target_ == "host" ? "_cuda.cuh" : "_host.cuh");
}

void TextExpansion::add_file(std::string_view file_name) {
  const std::string mark = " " + std::string(file_name) + " ";
  if (seen_.find(mark) != std::string::npos || belongs_to_other_target(file_name)) return;
  seen_ += mark;
  const std::string_view text = kernel_text(file_name);
  NORMD_CHECK(!text.empty());
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view included = included_file(line);
    if (!included.empty()) {
      add_file(included);
    } else if (line != "#pragma once") {
      text_.append(line).append("\n");
    }
  }
}

void TextExpansion::add_text(std::string_view text) {
  text_.append(text);
}

}  // namespace normd
