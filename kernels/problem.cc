#include "kernels/problem.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "kernels/arguments.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "kernels/text.h"

namespace normd {
namespace {

std::string_view optional_dtype_name(const std::optional<DType>& dtype) {
  return dtype ? dtype_name(*dtype) : std::string_view("none");
}

DType read_dtype(FieldReader& reader, std::string_view name) {
  const auto dtype = parse_dtype(reader.value(name));
  if (!dtype) reader.reject(name, "fp32, fp16 or bf16");
  return dtype.value_or(DType::fp32);
}

std::optional<DType> read_optional_dtype(FieldReader& reader, std::string_view name) {
  const std::string_view text = reader.value(name);
  if (text == "none") return std::nullopt;
  const auto dtype = parse_dtype(text);
  if (!dtype) reader.reject(name, "fp32, fp16, bf16 or none");
  return dtype;
}

// An enum that came from a number on the wire or on disk may hold anything.
bool is_known(DType dtype) {
  return std::find(std::begin(all_dtypes), std::end(all_dtypes), dtype) != std::end(all_dtypes);
}

// The name of the first field whose value is none of its enum's; empty if there is none.
std::string_view unknown_field(const Problem& problem) {
  if (problem.op != Op::layer_norm) return "op";
  if (!is_known(problem.x)) return "x";
  if (!is_known(problem.y)) return "y";
  if (problem.gamma && !is_known(*problem.gamma)) return "gamma";
  if (problem.beta && !is_known(*problem.beta)) return "beta";
  if (problem.stats > Stats::mean_rstd) return "stats";
  const bool known_layout =
      problem.rows_layout == RowsLayout::contiguous || problem.rows_layout == RowsLayout::strided;
  return known_layout ? "" : "rows_layout";
}

// Every pointer is aligned to its own element; the smallest of them bounds the class from below.
int smallest_align(const Problem& problem) {
  std::size_t smallest = std::min(size_bytes(problem.x), size_bytes(problem.y));
  if (problem.gamma) smallest = std::min(smallest, size_bytes(*problem.gamma));
  if (problem.beta) smallest = std::min(smallest, size_bytes(*problem.beta));
  return static_cast<int>(smallest);
}

}  // namespace

Stats make_stats(bool mean, bool rstd) {
  return static_cast<Stats>((mean ? 1 : 0) | (rstd ? 2 : 0));
}

int row_align_bytes(const Problem& problem) {
  if (problem.rows_layout == RowsLayout::strided) return problem.align_bytes;
  const auto odd_part = [&](DType dtype) {
    const auto row_bytes = static_cast<std::uint64_t>(problem.columns) * size_bytes(dtype);
    return static_cast<int>(std::min<std::uint64_t>(row_bytes & (~row_bytes + 1), 1u << 30));
  };
  return std::min({problem.align_bytes, odd_part(problem.x), odd_part(problem.y)});
}

double useful_bytes(const Problem& problem) {
  const double rows = static_cast<double>(problem.rows);
  const double columns = static_cast<double>(problem.columns);
  double bytes =
      rows * columns * static_cast<double>(size_bytes(problem.x) + size_bytes(problem.y));
  if (problem.gamma) bytes += columns * static_cast<double>(size_bytes(*problem.gamma));
  if (problem.beta) bytes += columns * static_cast<double>(size_bytes(*problem.beta));
  if (wants_mean(problem.stats)) bytes += 4.0 * rows;
  if (wants_rstd(problem.stats)) bytes += 4.0 * rows;
  return bytes;
}

unsigned dtype_flags(const Problem& problem) {
  const auto number = [](const std::optional<DType>& dtype) {
    return dtype ? static_cast<int>(*dtype) : 0;
  };
  return argument_flags(number(problem.x), number(problem.y), number(problem.gamma),
                        number(problem.beta));
}

std::string to_text(const Problem& problem) {
  std::string text = "layer_norm rows=" + std::to_string(problem.rows);
  text += " columns=" + std::to_string(problem.columns);
  text.append(" x=").append(dtype_name(problem.x));
  text.append(" y=").append(dtype_name(problem.y));
  text.append(" gamma=").append(optional_dtype_name(problem.gamma));
  text.append(" beta=").append(optional_dtype_name(problem.beta));
  text.append(" stats=").append(stats_name(problem.stats));
  text.append(" rows_layout=").append(rows_layout_name(problem.rows_layout));
  text += " align_bytes=" + std::to_string(problem.align_bytes);
  return text;
}

Result<Problem> parse_problem(std::string_view text) {
  FieldReader reader(text);
  Problem problem;
  if (reader.word() != "layer_norm") reader.reject("op", "layer_norm");
  problem.rows = reader.integer("rows");
  problem.columns = reader.integer("columns");
  problem.x = read_dtype(reader, "x");
  problem.y = read_dtype(reader, "y");
  problem.gamma = read_optional_dtype(reader, "gamma");
  problem.beta = read_optional_dtype(reader, "beta");
  const auto stats = parse_stats(reader.value("stats"));
  if (!stats) reader.reject("stats", "none, mean, rstd or mean_rstd");
  problem.stats = stats.value_or(Stats::none);
  const auto layout = parse_rows_layout(reader.value("rows_layout"));
  if (!layout) reader.reject("rows_layout", "contiguous or strided");
  problem.rows_layout = layout.value_or(RowsLayout::contiguous);
  const std::int64_t align_bytes = reader.integer("align_bytes");
  if (align_bytes < 1 || align_bytes > 64) reader.reject("align_bytes", "a power of two up to 64");
  problem.align_bytes = static_cast<int>(align_bytes);
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  if (auto valid = validate(problem); !valid) return fail(std::move(valid.error()));
  return problem;
}

Result<void> validate(const Problem& problem) {
  const auto refuse = [](std::string message, std::string field) {
    return fail(ErrorCode::invalid_argument, std::move(message), std::move(field));
  };
  if (const std::string_view field = unknown_field(problem); !field.empty()) {
    return refuse(std::string(field) + " has a value that is none of those it may have",
                  std::string(field));
  }
  if (problem.rows < 0 || problem.rows > limits::rows_max) {
    return refuse("rows must be 0 to " + std::to_string(limits::rows_max) + ", got " +
                      std::to_string(problem.rows),
                  "rows");
  }
  if (problem.columns < 1 || problem.columns > limits::columns_max) {
    return refuse("columns must be 1 to " + std::to_string(limits::columns_max) + ", got " +
                      std::to_string(problem.columns),
                  "columns");
  }
  // Both factors are bounded above, so the product fits in 63 bits.
  if (problem.rows * problem.columns > limits::elements_max) {
    return refuse("rows x columns must be at most " + std::to_string(limits::elements_max) +
                      " elements, got " + std::to_string(problem.rows) + " x " +
                      std::to_string(problem.columns),
                  "rows");
  }
  const auto align_bytes = static_cast<unsigned>(problem.align_bytes);
  if (problem.align_bytes < smallest_align(problem) || align_bytes > 64 ||
      !std::has_single_bit(align_bytes)) {
    return refuse("align_bytes must be a power of two from the element size up to 64, got " +
                      std::to_string(problem.align_bytes),
                  "align_bytes");
  }
  return {};
}

std::string_view stats_name(Stats stats) {
  switch (stats) {
    case Stats::none:
      return "none";
    case Stats::mean:
      return "mean";
    case Stats::rstd:
      return "rstd";
    case Stats::mean_rstd:
      return "mean_rstd";
  }
  NORMD_CHECK(false);
}

std::string_view rows_layout_name(RowsLayout layout) {
  return layout == RowsLayout::contiguous ? "contiguous" : "strided";
}

std::optional<Stats> parse_stats(std::string_view name) {
  for (int bits = 0; bits < 4; ++bits) {
    if (stats_name(static_cast<Stats>(bits)) == name) return static_cast<Stats>(bits);
  }
  return std::nullopt;
}

std::optional<RowsLayout> parse_rows_layout(std::string_view name) {
  if (name == "contiguous") return RowsLayout::contiguous;
  if (name == "strided") return RowsLayout::strided;
  return std::nullopt;
}

}  // namespace normd
