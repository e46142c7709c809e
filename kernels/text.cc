#include "kernels/text.h"

#include <charconv>
#include <cmath>

namespace normd {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  // One number, one text: a key must not have two spellings.
  const std::string_view digits = text.substr(text.front() == '-' ? 1 : 0);
  if (digits.front() == '0' && text != "0") return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (std::isnan(value)) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

FieldReader::FieldReader(std::string_view text) : text_(text) {
  if (!text.empty()) words_ = split(text, ' ');
}

std::string_view FieldReader::take() {
  if (next_ == words_.size()) return {};
  return words_[next_++];
}

std::string_view FieldReader::word() {
  const std::string_view word = take();
  if (word.empty() || word.find('=') != std::string_view::npos) reject("word", "a bare word");
  return word;
}

std::string_view FieldReader::value(std::string_view name) {
  const std::string_view word = take();
  if (word.size() <= name.size() || word.substr(0, name.size()) != name ||
      word[name.size()] != '=') {
    reject(name, std::string(name) + "=<value>");
    return {};
  }
  return word.substr(name.size() + 1);
}

std::int64_t FieldReader::integer(std::string_view name) {
  const auto parsed = parse_integer(value(name));
  if (!parsed) reject(name, "an integer");
  return parsed.value_or(0);
}

double FieldReader::number(std::string_view name) {
  const auto parsed = parse_number(value(name));
  if (!parsed) reject(name, "a number");
  return parsed.value_or(0);
}

std::vector<std::pair<std::string_view, std::string_view>> FieldReader::rest() {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (!at_end()) {
    const std::string_view word = take();
    const std::size_t at = word.find('=');
    if (at == std::string_view::npos || at == 0) {
      reject(word, "name=value");
      return {};
    }
    pairs.emplace_back(word.substr(0, at), word.substr(at + 1));
  }
  return pairs;
}

void FieldReader::reject(std::string_view name, std::string_view expected) {
  if (error_) return;
  next_ = words_.size();  // nothing after it is read
  error_ = Error{
      ErrorCode::invalid_argument,
      "expected " + std::string(expected) + " for " + std::string(name) + " in '" + text_ + "'",
      std::string(name)};
}

Result<void> FieldReader::finish() const {
  if (error_) return fail(*error_);
  if (!at_end()) {
    return fail(ErrorCode::invalid_argument,
                "unexpected '" + std::string(words_[next_]) + "' in '" + text_ + "'");
  }
  return {};
}

}  // namespace normd
