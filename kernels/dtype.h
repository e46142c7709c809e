// DType: the element types of x, y, gamma and beta, with their sizes, names and exact conversions
// to and from double. The conversions round to nearest even, once. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace normd {

// The numbers are stored and sent (proto/normd/v1/normd.proto has the same); never renumber.
enum class DType : std::uint8_t { fp32 = 1, fp16 = 2, bf16 = 3 };

inline constexpr DType all_dtypes[] = {DType::fp32, DType::fp16, DType::bf16};

std::size_t size_bytes(DType dtype);
std::string_view dtype_name(DType dtype);  // "fp32", "fp16", "bf16"
std::optional<DType> parse_dtype(std::string_view name);

// Value of element `index` of an array of `dtype`. Exact: every such value is a double.
double load_element(DType dtype, const void* array, std::size_t index);

// Stores `value` rounded to nearest even; overflow becomes infinity, NaN stays NaN (quiet).
void store_element(DType dtype, void* array, std::size_t index, double value);

// Distance between the neighbouring representable values around `value` (one unit in the last
// place of the binade that holds it; the smallest subnormal at and below the subnormal range).
double unit_in_last_place(DType dtype, double value);

// The value that `value` becomes when stored as `dtype`.
double rounded_to(DType dtype, double value);

}  // namespace normd
