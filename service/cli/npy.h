// Reads and writes NumPy's .npy files (format versions 1.0, 2.0 and 3.0) for LayerNorm's tensors:
// plain little-endian arrays in C order. Every Error names the file, the byte offset of the fault
// and what was expected there. Nothing is allocated before the sizes are known to be sane.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"

namespace normd {

// .npy knows no bf16: such arrays travel as uint16, which callers must say.
enum class NpyType : std::uint8_t { fp16 = 1, fp32 = 2, fp64 = 3, uint16 = 4 };

std::string_view npy_type_name(NpyType type);  // float16, float32, float64, uint16
std::size_t size_bytes(NpyType type);

struct NpyArray {
  NpyType type = NpyType::fp32;
  std::vector<std::int64_t> shape;  // empty: one scalar
  std::string bytes;                // row-major, little-endian, exactly the shape's product

  std::int64_t elements() const;
};

// The part of a file before its elements.
struct NpyHeader {
  NpyType type = NpyType::fp32;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  std::size_t data_offset = 0;
};

// Bytes of elements that a file may have: a message holds 64 MiB, and fp32 or fp64 input of what is
// sent or compared as 16-bit elements is up to four times that.
inline constexpr std::int64_t npy_bytes_max = std::int64_t{256} << 20;

// A header longer than this is refused: NumPy writes 128 bytes for the arrays read here.
inline constexpr std::size_t npy_header_bytes_max = 64 * 1024;

// `begin` is the file's first bytes, at least up to its data or all of it; `name` is for Errors.
Result<NpyHeader> parse_npy_header(std::string_view begin, const std::string& name);

Result<NpyArray> parse_npy(std::string_view file, const std::string& name);
Result<NpyArray> read_npy(const std::string& path);

// Version 1.0, padded to 64 bytes as NumPy does.
std::string npy_text(const NpyArray& array);

// By way of a temporary file beside it, renamed: `path` never holds half an array.
Result<void> write_npy(const std::string& path, const NpyArray& array);

}  // namespace normd
