// The part of the stand-in for libcuda.so.1 that manages virtual memory. It keeps what is reserved,
// made and mapped, and notes each call that a driver would refuse.
#include <cuda.h>

#include "tests/tuner/device/cuda/fake_driver.h"

extern "C" normd::FakeDriver* normd_fake_driver_state();

namespace {

constexpr CUdeviceptr reserved_at = CUdeviceptr{1} << 40;
constexpr std::size_t page_bytes = std::size_t{2} << 20;

CUresult answer(const char* function) {
  return static_cast<CUresult>(normd_fake_driver_state()->answer(function));
}

normd::FakeAddresses& addresses() {
  return normd_fake_driver_state()->addresses;
}

void expect(bool holds, const char* what) {
  if (!holds) addresses().misuse += std::string(what) + "; ";
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = page_bytes;
  return answer("cuMemGetAllocationGranularity");
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr,
                             unsigned long long) {
  const CUresult result = answer("cuMemAddressReserve");
  if (result != CUDA_SUCCESS) return result;
  expect(bytes % page_bytes == 0, "reserved a part of a page");
  addresses().reserved_bytes = bytes;
  *address = reserved_at;
  return result;
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  expect(address == reserved_at && bytes == addresses().reserved_bytes, "freed other addresses");
  expect(addresses().mapped.empty(), "freed addresses where memory is mapped");
  addresses().reserved_bytes = 0;
  return answer("cuMemAddressFree");
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* memory, std::size_t bytes,
                     const CUmemAllocationProp* kind, unsigned long long) {
  const CUresult result = answer("cuMemCreate");
  if (result != CUDA_SUCCESS) return result;
  expect(bytes % page_bytes == 0, "made a part of a page");
  expect(kind->location.type == CU_MEM_LOCATION_TYPE_DEVICE, "made memory elsewhere");
  ++addresses().memories;
  *memory = 0x3000;
  return result;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) {
  --addresses().memories;
  return answer("cuMemRelease");
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle, unsigned long long) {
  const CUresult result = answer("cuMemMap");
  if (result != CUDA_SUCCESS) return result;
  expect(offset == 0 && address % page_bytes == 0, "mapped a part of a page");
  expect(address >= reserved_at && address - reserved_at + bytes <= addresses().reserved_bytes,
         "mapped beyond what is reserved");
  addresses().mapped[address - reserved_at] = bytes;
  return result;
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  const auto found = addresses().mapped.find(address - reserved_at);
  expect(found != addresses().mapped.end() && found->second == bytes, "unmapped something else");
  expect(normd_fake_driver_state()->calls["cuStreamSynchronize"] > 0,
         "unmapped what may be in use");
  if (found != addresses().mapped.end()) addresses().mapped.erase(found);
  return answer("cuMemUnmap");
}
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  const auto found = addresses().mapped.find(address - reserved_at);
  expect(found != addresses().mapped.end() && found->second == bytes, "opened something else");
  expect(count == 1 && access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "opened in part");
  return answer("cuMemSetAccess");
}

}  // extern "C"
