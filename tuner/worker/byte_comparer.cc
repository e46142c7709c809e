#include "tuner/worker/byte_comparer.h"

#include <vector>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/compare_arguments.h"
#include "tuner/compiler/prebuilt.h"

namespace normd {
namespace {

std::size_t blocks_max() {
  return static_cast<std::size_t>(grid_blocks(compare_bytes_launch(), std::int64_t{1} << 40));
}

}  // namespace

Result<ByteComparer> ByteComparer::open(Device& device) {
  const auto binary = prebuilt_binary(Prebuilt::compare_bytes, device.spec());
  if (!binary) return fail(binary.error());
  auto kernel = device.load(*binary, compare_bytes_launch());
  if (!kernel) return fail(std::move(kernel.error()));
  auto differences = device.allocate(blocks_max() * sizeof(long long));
  if (!differences) return fail(std::move(differences.error()));
  return ByteComparer(device, std::move(*kernel), std::move(*differences));
}

Result<std::optional<std::int64_t>> ByteComparer::difference(const ByteRows& got,
                                                             const ByteRows& wanted) {
  NORMD_CHECK(got.rows == wanted.rows && got.row_bytes == wanted.row_bytes);
  return run(got, wanted, 0);
}

Result<std::optional<std::int64_t>> ByteComparer::difference_from_tiles(const void* got,
                                                                        std::size_t bytes,
                                                                        const void* tile,
                                                                        std::size_t tile_bytes) {
  return run({got, 1, bytes, 0}, {tile, 1, bytes, 0}, tile_bytes);
}

Result<std::optional<std::int64_t>> ByteComparer::run(const ByteRows& got, const ByteRows& wanted,
                                                      std::size_t wanted_bytes) {
  const std::size_t all = reinterpret_cast<std::uintptr_t>(got.address) |
                          reinterpret_cast<std::uintptr_t>(wanted.address) | got.row_bytes |
                          got.stride | wanted.stride | wanted_bytes;
  NORMD_CHECK(all % 2 == 0);
  const std::size_t step_bytes = all % 16 == 0 ? 16 : 2;
  const CompareArguments arguments{.got = got.address,
                                   .wanted = wanted.address,
                                   .differences = static_cast<long long*>(differences_->address()),
                                   .rows = static_cast<long long>(got.rows),
                                   .row_bytes = static_cast<long long>(got.row_bytes),
                                   .got_stride = static_cast<long long>(got.stride),
                                   .wanted_stride = static_cast<long long>(wanted.stride),
                                   .wanted_bytes = static_cast<long long>(wanted_bytes),
                                   .step_bytes = static_cast<int>(step_bytes),
                                   .unused = 0};
  const std::size_t steps = got.rows * got.row_bytes / step_bytes;
  if (steps == 0) return std::nullopt;
  const auto stretches = static_cast<std::int64_t>((steps + compare_steps - 1) / compare_steps);
  auto done = device_->launch({kernel_.get(), bytes_of(arguments), stretches});
  std::vector<long long> found(static_cast<std::size_t>(grid_blocks(kernel_->launch(), stretches)));
  if (done) {
    done =
        device_->copy_out(found.data(), differences_->address(), found.size() * sizeof(long long));
  }
  if (!done) return fail(std::move(done.error()));
  std::optional<std::int64_t> lowest;
  for (const long long one : found) {
    if (one >= 0 && (!lowest || one < *lowest)) lowest = one;
  }
  return lowest;
}

}  // namespace normd
