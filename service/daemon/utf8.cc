#include "service/daemon/utf8.h"

#include <algorithm>

namespace normd {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 if none is there.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const std::size_t length = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond the last code point are no characters.
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

}  // namespace

std::string cut_utf8(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view missing = "...";
  std::string kept;
  std::size_t whole_end = 0;  // where to cut if the text turns out too long
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view next = bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
    if (kept.size() + next.size() > bytes_max) {
      kept.resize(whole_end);
      return kept.append(missing.substr(0, bytes_max - whole_end));
    }
    kept.append(next);
    if (kept.size() + missing.size() <= bytes_max) whole_end = kept.size();
    text.remove_prefix(std::max<std::size_t>(1, bytes));
  }
  return kept;
}

}  // namespace normd
