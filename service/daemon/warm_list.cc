#include "service/daemon/warm_list.h"

#include <algorithm>
#include <string>

#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

// False if the value is none of the field's.
bool read_optional_dtype(std::string_view value, std::optional<DType>& dtype) {
  dtype = parse_dtype(value);
  return dtype.has_value() || value == "none";
}

// False for an unknown field or value.
bool read_field(std::string_view name, std::string_view value, WarmShape& shape) {
  Problem& problem = shape.problem;
  if (name == "gamma") return read_optional_dtype(value, problem.gamma);
  if (name == "beta") return read_optional_dtype(value, problem.beta);
  if (name == "x" || name == "y") {
    const auto dtype = parse_dtype(value);
    (name == "x" ? problem.x : problem.y) = dtype.value_or(DType::fp32);
    return dtype.has_value();
  }
  if (name == "stats") {
    const auto stats = parse_stats(value);
    problem.stats = stats.value_or(Stats::none);
    return stats.has_value();
  }
  if (name == "mode") {
    const auto mode = parse_bucket_mode(value);
    shape.mode = mode.value_or(BucketMode::bucketed);
    return mode.has_value();
  }
  return false;
}

Result<WarmShape> read_shape(const std::vector<std::string_view>& words) {
  const auto wrong = [](std::string_view word, std::string_view expected) {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(word.substr(0, 64)) + "' is not " + std::string(expected),
                "warm");
  };
  const std::size_t cross = words[0].find('x');
  const auto rows = parse_integer(words[0].substr(0, cross));
  const auto columns =
      cross == std::string_view::npos ? std::nullopt : parse_integer(words[0].substr(cross + 1));
  if (!rows || !columns || *rows < 1) return wrong(words[0], "ROWSxCOLUMNS");
  WarmShape shape{.problem = {.rows = *rows, .columns = *columns}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals != std::string_view::npos) {
      if (!read_field(words[i].substr(0, equals), words[i].substr(equals + 1), shape)) {
        return wrong(words[i], "one of y=, gamma=, beta=, stats=, mode= with a value of theirs");
      }
      continue;
    }
    const auto dtype = parse_dtype(words[i]);
    if (!dtype || i != 1) return wrong(words[i], "a dtype after the shape, or field=value");
    shape.problem.x = shape.problem.y = *dtype;
  }
  if (auto valid = validate(shape.problem); !valid) return fail(std::move(valid.error()));
  return shape;
}

}  // namespace

Result<std::vector<WarmShape>> parse_warm_list(std::string_view text, std::string_view name) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<WarmShape> shapes;
  int line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    const auto words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    auto shape = read_shape(words);
    if (!shape) {
      Error error = std::move(shape.error());
      error.message = std::string(name) + ":" + std::to_string(line_number) + ": " + error.message;
      return fail(std::move(error));
    }
    if (std::find(shapes.begin(), shapes.end(), *shape) == shapes.end()) shapes.push_back(*shape);
  }
  return shapes;
}

}  // namespace normd
