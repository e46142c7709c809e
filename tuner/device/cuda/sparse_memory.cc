#include "tuner/device/cuda/sparse_memory.h"

#include <string>
#include <utility>
#include <vector>

#include "kernels/check.h"

namespace normd {
namespace {

std::size_t rounded_up(std::size_t bytes, std::size_t page_bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

class SparseMemory final : public Memory {
 public:
  SparseMemory(std::shared_ptr<const CudaContext> context, std::size_t bytes,
               std::size_t page_bytes)
      : context_(std::move(context)), bytes_(bytes), page_bytes_(page_bytes) {}
  SparseMemory(const SparseMemory&) = delete;  // two owners would free it twice
  ~SparseMemory() override;

  Result<void> reserve();
  Result<void> back(const Stretch& stretch);

  void* address() const override { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const override { return bytes_; }

 private:
  struct Mapping {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
  };

  std::size_t reserved_bytes() const { return rounded_up(bytes_, page_bytes_); }

  std::shared_ptr<const CudaContext> context_;
  std::size_t bytes_;
  std::size_t page_bytes_;
  CUdeviceptr address_ = 0;  // 0: not reserved
  std::vector<Mapping> mappings_;
};

// Plain memory of one GPU.
CUmemAllocationProp memory_of(CUdevice device) {
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  kind.location.id = device;
  return kind;
}

// Addresses may be freed only when nothing is mapped there, and nothing may be unmapped that the
// GPU still works on.
SparseMemory::~SparseMemory() {
  if (address_ == 0 || !context_->make_current()) return;
  const Driver& driver = context_->driver();
  driver.stream_synchronize(context_->stream());
  for (const Mapping& mapping : mappings_) driver.memory_unmap(mapping.address, mapping.bytes);
  driver.addresses_free(address_, reserved_bytes());
}

Result<void> SparseMemory::reserve() {
  const CUresult result =
      context_->driver().addresses_reserve(&address_, reserved_bytes(), page_bytes_, 0, 0);
  auto reserved =
      context_->check(result, "reserving " + std::to_string(bytes_) + " bytes of GPU addresses");
  if (reserved) return {};
  address_ = 0;
  // Addresses are no memory: having too few of them says nothing of how much of that is left.
  if (reserved.error().code == ErrorCode::resource_exhausted) {
    reserved.error().code = ErrorCode::unimplemented;
  }
  return reserved;
}

Result<void> SparseMemory::back(const Stretch& stretch) {
  const Driver& driver = context_->driver();
  const std::size_t begin = stretch.offset / page_bytes_ * page_bytes_;
  const std::size_t end = rounded_up(stretch.offset + stretch.bytes, page_bytes_);
  NORMD_CHECK(end <= reserved_bytes());
  const Mapping mapping{.address = address_ + begin, .bytes = end - begin};
  NORMD_CHECK(mappings_.empty() ||
              mappings_.back().address + mappings_.back().bytes <= mapping.address);
  const std::string words = std::to_string(mapping.bytes) + " bytes of GPU memory";
  const CUmemAllocationProp kind = memory_of(context_->device());
  CUmemGenericAllocationHandle memory = 0;
  const CUresult created = driver.memory_create(&memory, mapping.bytes, &kind, 0);
  if (auto got = context_->check(created, "creating " + words); !got) return got;
  const CUresult mapped = driver.memory_map(mapping.address, mapping.bytes, 0, memory, 0);
  // What is mapped lives until it is unmapped; what is not goes here.
  driver.memory_release(memory);
  if (auto done = context_->check(mapped, "mapping " + words); !done) return done;
  mappings_.push_back(mapping);
  const CUmemAccessDesc access{.location = kind.location,
                               .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return context_->check(driver.memory_set_access(mapping.address, mapping.bytes, &access, 1),
                         "opening " + words);
}

Result<std::size_t> page_bytes_of(const CudaContext& context) {
  const Driver& driver = context.driver();
  int supported = 0;
  CUresult result = driver.device_get_attribute(
      &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, context.device());
  if (result == CUDA_SUCCESS && supported == 0) {
    return fail(ErrorCode::unimplemented, "this GPU has no virtual memory management");
  }
  const CUmemAllocationProp kind = memory_of(context.device());
  std::size_t page_bytes = 0;
  if (result == CUDA_SUCCESS) {
    result = driver.memory_granularity(&page_bytes, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  }
  if (auto read = context.check(result, "reading the page size of a GPU"); !read) {
    return fail(std::move(read.error()));
  }
  NORMD_CHECK(page_bytes > 0 && page_bytes <= stretch_distance_bytes / 2);
  return page_bytes;
}

// What the driver refuses it does not have: on virtual GPUs, say, whose attributes promise it.
Error as_unimplemented(Error error) {
  if (error.code == ErrorCode::failed_precondition) error.code = ErrorCode::unimplemented;
  return error;
}

}  // namespace

Result<std::unique_ptr<Memory>> allocate_sparse_memory(std::shared_ptr<const CudaContext> context,
                                                       std::size_t bytes,
                                                       std::span<const Stretch> stretches) {
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  const auto page_bytes = page_bytes_of(*context);
  if (!page_bytes) return fail(as_unimplemented(page_bytes.error()));
  auto memory = std::make_unique<SparseMemory>(std::move(context), bytes, *page_bytes);
  auto done = memory->reserve();
  for (const Stretch& stretch : stretches) {
    if (done) done = memory->back(stretch);
  }
  if (!done) return fail(as_unimplemented(std::move(done.error())));
  return memory;
}

}  // namespace normd
