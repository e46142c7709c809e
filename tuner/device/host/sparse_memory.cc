#include "tuner/device/host/sparse_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kernels/check.h"

namespace normd {
namespace {

class SparseMemory final : public Memory {
 public:
  SparseMemory(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  SparseMemory(const SparseMemory&) = delete;  // it would be unmapped twice
  ~SparseMemory() override { ::munmap(address_, bytes_); }
  void* address() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  void* address_;
  std::size_t bytes_;
};

}  // namespace

Result<std::unique_ptr<Memory>> allocate_sparse_memory(std::size_t bytes,
                                                       std::span<const Stretch> stretches) {
  const auto failed = [&](ErrorCode code, const std::string& tried) {
    return fail(code, tried + " on the host device: " + std::strerror(errno));
  };
  void* address =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return failed(ErrorCode::unimplemented,
                  "reserving " + std::to_string(bytes) + " bytes of addresses");
  }
  auto memory = std::make_unique<SparseMemory>(address, bytes);
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const Stretch& stretch : stretches) {
    NORMD_CHECK(stretch.offset + stretch.bytes <= bytes);
    const std::size_t begin = stretch.offset / page_bytes * page_bytes;
    const std::size_t opened = stretch.offset + stretch.bytes - begin;
    if (::mprotect(static_cast<char*>(address) + begin, opened, PROT_READ | PROT_WRITE) != 0) {
      return failed(ErrorCode::resource_exhausted,
                    "opening " + std::to_string(opened) + " bytes of memory");
    }
  }
  return memory;
}

}  // namespace normd
