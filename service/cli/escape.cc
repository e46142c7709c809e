#include "service/cli/escape.h"

#include <cstdint>
#include <cstdio>

namespace normd {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not valid UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t value = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (overlong || surrogate || value > 0x10ffff) return {};
  return {value, bytes};
}

bool prints(std::uint32_t value) {
  if (value < 0x20 || (value >= 0x7f && value < 0xa0)) return false;
  // Zero-width and direction marks, line and paragraph separators, the byte-order mark, and tags.
  if (value >= 0x200b && value <= 0x200f) return false;
  if (value >= 0x2028 && value <= 0x202e) return false;
  if (value >= 0x2060 && value <= 0x206f) return false;
  return value != 0x061c && value != 0xfeff && !(value >= 0xe0000 && value <= 0xe0fff);
}

void append_escape(std::string& out, const char* format, std::uint32_t value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  out += buffer;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0) {
      append_escape(out, "\\x%02x", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (point.value == '\\') {
      out += "\\\\";
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (prints(point.value)) {
      out += text.substr(0, point.bytes);
    } else {
      append_escape(out, point.value < 0x100 ? "\\x%02x" : "\\u%04x", point.value);
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return width;
}

}  // namespace normd
