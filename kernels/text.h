// The one way the project writes and reads its canonical texts: words separated by single spaces,
// most of them `name=value`. Strict in both directions, so that a text is a key. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.h"

namespace normd {

// Digits only: no sign but a leading minus, no space, no suffix, no leading zero, no wrap-around.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Whole text as a finite or infinite decimal number, in the C locale.
std::optional<double> parse_number(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);

// Reads a canonical text word by word, in the order in which it was written.
//   FieldReader reader("layer_norm rows=4");
//   reader.word(); reader.integer("rows"); if (auto error = reader.finish()) ...
// After the first thing that does not fit, every further read returns a neutral value and
// finish() returns the first error.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text);
  std::string_view word();                       // the next word, which has no '='
  std::string_view value(std::string_view name);  // the value of the next word, `name=value`
  std::int64_t integer(std::string_view name);
  double number(std::string_view name);
  bool at_end() const { return words_.size() == next_; }
  // The remaining words as (name, value) pairs, in order.
  std::vector<std::pair<std::string_view, std::string_view>> rest();
  void reject(std::string_view name, std::string_view expected);  // the value just read is wrong
  Result<void> finish() const;

 private:
  std::string_view take();

  std::string text_;  // kept for the error message; the words view the caller's text
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  std::optional<Error> error_;
};

}  // namespace normd
