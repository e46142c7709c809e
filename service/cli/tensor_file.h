// TensorFile: a .npy file as one of LayerNorm's tensors, with its dtype settled, and back. Plain
// values and file reads; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/error.h"
#include "service/cli/npy.h"

namespace normd {

struct TensorFile {
  DType dtype = DType::fp32;
  std::vector<std::int64_t> shape;
  std::string bytes;       // elements of dtype
  std::string conversion;  // what was done to them on the way; empty: nothing

  std::int64_t elements() const {
    return static_cast<std::int64_t>(bytes.size() / size_bytes(dtype));
  }
};

struct TensorReading {
  std::string flag;                 // "--x": named in Errors
  bool uint16_is_bf16 = false;      // --dtype bf16
  std::optional<DType> convert_to;  // rounded to nearest even
};

Result<TensorFile> read_tensor(const std::string& path, const TensorReading& reading);

// bf16 is written as uint16, which .npy can hold.
Result<void> write_tensor(const std::string& path, const TensorFile& tensor);

// How two arrays of one shape differ, whatever their dtypes.
struct Difference {
  double largest = 0;  // absolute; NaN and infinity that both have do not differ
  double relative_l2 = 0;
  std::int64_t not_comparable = 0;  // elements that are NaN or infinite in one only
};
// `expected` is a .npy file, whose uint16 elements are taken for bf16. The Error names shapes that
// do not match.
Result<Difference> difference_to(const std::string& path, const TensorFile& tensor);

std::string shape_text(const std::vector<std::int64_t>& shape);  // "(4, 384)"

}  // namespace normd
