// The header of a .npy file: magic, version, length, and a Python dict literal with exactly the
// entries descr, fortran_order and shape.
#include <array>
#include <optional>
#include <utility>

#include "kernels/text.h"
#include "service/cli/escape.h"
#include "service/cli/npy.h"

namespace normd {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// Reads the dict literal, remembering the first fault with its offset in the file.
class DictReader {
 public:
  DictReader(std::string_view text, std::size_t offset, const std::string& name)
      : text_(text), offset_(offset), name_(name) {}

  std::size_t position() const { return position_; }

  tl::unexpected<Error> fault(std::size_t position, const std::string& expected) const {
    return fail(ErrorCode::invalid_argument,
                name_ + ": byte " + std::to_string(offset_ + position) + ": expected " + expected);
  }

  void skip_spaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  std::optional<std::string_view> quoted() {
    skip_spaces();
    if (position_ >= text_.size()) return std::nullopt;
    const char quote = text_[position_];
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return content;
  }

  std::optional<std::int64_t> digits() {
    skip_spaces();
    std::size_t end = position_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    const auto value = parse_integer(text_.substr(position_, end - position_));
    if (value) position_ = end;
    return value;
  }

  bool at_end() {
    skip_spaces();
    return position_ == text_.size();
  }

  std::string_view rest() const { return text_.substr(position_); }

 private:
  std::string_view text_;
  std::size_t offset_;
  const std::string& name_;
  std::size_t position_ = 0;
};

Result<NpyType> parse_descr(DictReader& reader) {
  reader.skip_spaces();
  const std::size_t begin = reader.position();
  if (reader.rest().starts_with('[')) {
    return reader.fault(begin, "a plain element type; structured arrays are not read");
  }
  const std::optional<std::string_view> descr = reader.quoted();
  if (!descr) return reader.fault(begin, "the element type in quotes");
  constexpr std::array known = {std::pair{"<f2", NpyType::fp16}, std::pair{"<f4", NpyType::fp32},
                                std::pair{"<f8", NpyType::fp64}, std::pair{"<u2", NpyType::uint16}};
  for (const auto& [text, type] : known) {
    if (*descr == text) return type;
  }
  const std::string found = "'" + escaped(*descr) + "'";
  if (descr->starts_with('>')) {
    return reader.fault(begin, "little-endian elements, not the big-endian " + found +
                                   "; convert with x.astype(x.dtype.newbyteorder('<'))");
  }
  if (descr->find('O') != std::string_view::npos) {
    return reader.fault(begin, "numbers, not Python objects (" + found + ")");
  }
  return reader.fault(begin, "'<f2', '<f4', '<f8' or '<u2' (bf16 as uint16), not " + found);
}

Result<std::vector<std::int64_t>> parse_dimensions(DictReader& reader) {
  if (!reader.take("(")) return reader.fault(reader.position(), "'(', which begins the shape");
  std::vector<std::int64_t> shape;
  bool comma = true;
  while (!reader.take(")")) {
    if (!comma) return reader.fault(reader.position(), "',' or ')' in the shape");
    const auto dimension = reader.digits();
    if (!dimension) return reader.fault(reader.position(), "a dimension of at most 63 bits");
    shape.push_back(*dimension);
    comma = reader.take(",");
  }
  if (shape.size() == 1 && !comma) {
    return reader.fault(reader.position(), "',' after the only dimension");
  }
  if (shape.size() > 32) return reader.fault(reader.position(), "at most 32 dimensions");
  return shape;
}

struct Entries {
  std::optional<NpyType> type;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<bool> fortran_order;
  std::size_t shape_at = 0;
  std::size_t order_at = 0;
};

Result<void> parse_entry(DictReader& reader, Entries& entries) {
  reader.skip_spaces();
  const std::size_t begin = reader.position();
  const std::optional<std::string_view> key = reader.quoted();
  if (!key) return reader.fault(begin, "a name in quotes or '}'");
  if (!reader.take(":")) return reader.fault(reader.position(), "':'");
  if (*key == "descr" && !entries.type) {
    Result<NpyType> type = parse_descr(reader);
    if (!type) return fail(type.error());
    entries.type = *type;
  } else if (*key == "shape" && !entries.shape) {
    entries.shape_at = reader.position();
    auto shape = parse_dimensions(reader);
    if (!shape) return fail(shape.error());
    entries.shape = *std::move(shape);
  } else if (*key == "fortran_order" && !entries.fortran_order) {
    entries.order_at = reader.position();
    if (reader.take("False")) {
      entries.fortran_order = false;
    } else if (reader.take("True")) {
      entries.fortran_order = true;
    } else {
      return reader.fault(reader.position(), "True or False");
    }
  } else {
    return reader.fault(begin,
                        "each of descr, fortran_order and shape once, not '" + escaped(*key) + "'");
  }
  return {};
}

Result<Entries> parse_dict(DictReader& reader) {
  Entries entries;
  if (!reader.take("{")) return reader.fault(reader.position(), "'{', which begins the header");
  bool comma = true;
  while (!reader.take("}")) {
    if (!comma) return reader.fault(reader.position(), "',' or '}'");
    if (Result<void> entry = parse_entry(reader, entries); !entry) return fail(entry.error());
    comma = reader.take(",");
  }
  if (!reader.at_end()) return reader.fault(reader.position(), "nothing after '}'");
  if (!entries.type || !entries.shape || !entries.fortran_order) {
    return reader.fault(reader.position(), "descr, fortran_order and shape; one is missing");
  }
  if (*entries.fortran_order && entries.shape->size() > 1) {
    return reader.fault(entries.order_at,
                        "C order; convert with numpy.ascontiguousarray(x) before saving");
  }
  return entries;
}

// The number of elements, or nothing if the array would be larger than what is read.
std::optional<std::int64_t> product(const std::vector<std::int64_t>& shape, NpyType type) {
  std::int64_t elements = 1;
  std::int64_t bytes = 0;
  for (const std::int64_t dimension : shape) {
    if (__builtin_mul_overflow(elements, dimension, &elements)) return std::nullopt;
  }
  if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(size_bytes(type)), &bytes) ||
      bytes > npy_bytes_max) {
    return std::nullopt;
  }
  return elements;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view begin, const std::string& name) {
  const auto fault = [&](std::size_t offset, const std::string& expected) {
    return fail(ErrorCode::invalid_argument,
                name + ": byte " + std::to_string(offset) + ": expected " + expected);
  };
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(begin[i]); };
  if (!begin.starts_with(magic)) return fault(0, "\\x93NUMPY, the mark of a .npy file");
  if (begin.size() < 8) return fault(begin.size(), "the format version; the file ends here");
  const int major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    return fault(6, "format version 1.0, 2.0 or 3.0, not " + std::to_string(major) + "." +
                        std::to_string(byte(7)));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t dict_offset = 8 + length_bytes;
  if (begin.size() < dict_offset) {
    return fault(begin.size(), "the length of the header; the file ends here");
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(byte(8 + i)) << (8 * i);
  }
  if (length > npy_header_bytes_max) {
    return fault(8, "a header of at most " + std::to_string(npy_header_bytes_max) + " bytes, not " +
                        std::to_string(length));
  }
  if (begin.size() - dict_offset < length) {
    return fault(begin.size(), "the rest of a header of " + std::to_string(length) +
                                   " bytes; the file ends here");
  }
  DictReader reader(begin.substr(dict_offset, length), dict_offset, name);
  Result<Entries> entries = parse_dict(reader);
  if (!entries) return fail(entries.error());
  const std::optional<std::int64_t> elements = product(*entries->shape, *entries->type);
  if (!elements) {
    return fault(dict_offset + entries->shape_at,
                 "a shape of at most " + std::to_string(npy_bytes_max) + " bytes of elements");
  }
  return NpyHeader{.type = *entries->type,
                   .shape = *std::move(entries->shape),
                   .elements = *elements,
                   .data_offset = dict_offset + length};
}

}  // namespace normd
