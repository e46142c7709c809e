// ByteComparer: says where device memory differs from other device memory first, by the prebuilt
// comparer (kernels/templates/compare_bytes.cuh), without bringing either to the host. Belongs to
// its Device's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tuner/device/device.h"

namespace normd {

// Rows of bytes in device memory. Addresses, sizes and strides are even.
struct ByteRows {
  const void* address = nullptr;
  std::size_t rows = 1;
  std::size_t row_bytes = 0;
  std::size_t stride = 0;  // bytes from row to row
};

class ByteComparer {
 public:
  static Result<ByteComparer> open(Device& device);

  // The lowest byte of `got`, counted without the gaps between its rows, where its pair of bytes is
  // not as in `wanted`, which has as many rows of as many bytes.
  Result<std::optional<std::int64_t>> difference(const ByteRows& got, const ByteRows& wanted);
  // The same, for a stretch that ought to hold the `tile_bytes` at `tile` again and again.
  Result<std::optional<std::int64_t>> difference_from_tiles(const void* got, std::size_t bytes,
                                                            const void* tile,
                                                            std::size_t tile_bytes);

 private:
  ByteComparer(Device& device, std::unique_ptr<Kernel> kernel, std::unique_ptr<Memory> differences)
      : device_(&device), kernel_(std::move(kernel)), differences_(std::move(differences)) {}
  Result<std::optional<std::int64_t>> run(const ByteRows& got, const ByteRows& wanted,
                                          std::size_t wanted_bytes);

  Device* device_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Memory> differences_;
};

}  // namespace normd
