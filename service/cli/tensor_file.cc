#include "service/cli/tensor_file.h"

#include <cmath>
#include <cstring>

#include "kernels/check.h"

namespace normd {
namespace {

std::optional<DType> dtype_of(NpyType type) {
  switch (type) {
    case NpyType::fp16:
      return DType::fp16;
    case NpyType::fp32:
      return DType::fp32;
    case NpyType::uint16:
      return DType::bf16;
    case NpyType::fp64:
      return std::nullopt;
  }
  NORMD_CHECK(false);
}

double load(NpyType type, const std::string& bytes, std::size_t index) {
  if (const auto dtype = dtype_of(type)) return load_element(*dtype, bytes.data(), index);
  double value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

std::string converted(const NpyArray& array, DType to) {
  const auto elements = static_cast<std::size_t>(array.elements());
  std::string bytes(elements * size_bytes(to), '\0');
  for (std::size_t i = 0; i < elements; ++i) {
    store_element(to, bytes.data(), i, load(array.type, array.bytes, i));
  }
  return bytes;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

Result<TensorFile> read_tensor(const std::string& path, const TensorReading& reading) {
  Result<NpyArray> array = read_npy(path);
  if (!array) {
    Error error = array.error();
    error.field = reading.flag;
    return fail(std::move(error));
  }
  if (array->type == NpyType::uint16 && !reading.uint16_is_bf16) {
    return fail(ErrorCode::invalid_argument,
                path + ": uint16 elements are taken for bf16 only with --dtype bf16", reading.flag);
  }
  const std::optional<DType> own = dtype_of(array->type);
  if (!own && !reading.convert_to) {
    return fail(ErrorCode::invalid_argument,
                path + ": float64 is no dtype of LayerNorm here; convert it by " + reading.flag +
                    "-dtype fp32",
                reading.flag);
  }
  TensorFile tensor{.shape = array->shape};
  if (reading.convert_to && reading.convert_to != own) {
    tensor.dtype = *reading.convert_to;
    tensor.bytes = converted(*array, tensor.dtype);
    const std::string from(own == DType::bf16 ? "bf16" : npy_type_name(array->type));
    tensor.conversion = "converted from " + from + " to " + std::string(dtype_name(tensor.dtype)) +
                        ", rounded to nearest even";
  } else {
    tensor.dtype = *own;
    tensor.bytes = std::move(array->bytes);
  }
  return tensor;
}

Result<void> write_tensor(const std::string& path, const TensorFile& tensor) {
  const NpyType type = tensor.dtype == DType::fp32   ? NpyType::fp32
                       : tensor.dtype == DType::fp16 ? NpyType::fp16
                                                     : NpyType::uint16;
  return write_npy(path, {.type = type, .shape = tensor.shape, .bytes = tensor.bytes});
}

Result<Difference> difference_to(const std::string& path, const TensorFile& tensor) {
  const Result<NpyArray> expected = read_npy(path);
  if (!expected) return fail(expected.error());
  if (expected->shape != tensor.shape) {
    return fail(ErrorCode::invalid_argument,
                path + ": expected shape " + shape_text(tensor.shape) +
                    ", that of the answer, not " + shape_text(expected->shape),
                "--expect");
  }
  Difference difference;
  double error_square_sum = 0;
  double square_sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
    const double got = load_element(tensor.dtype, tensor.bytes.data(), i);
    const double wanted = load(expected->type, expected->bytes, i);
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) {
      if (std::isfinite(wanted)) square_sum += wanted * wanted;
    } else if (!std::isfinite(got) || !std::isfinite(wanted)) {
      ++difference.not_comparable;
    } else {
      difference.largest = std::max(difference.largest, std::abs(got - wanted));
      error_square_sum += (got - wanted) * (got - wanted);
      square_sum += wanted * wanted;
    }
  }
  if (square_sum > 0) difference.relative_l2 = std::sqrt(error_square_sum / square_sum);
  return difference;
}

}  // namespace normd
