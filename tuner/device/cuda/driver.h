// Driver: the functions of the CUDA driver that are used, opened while the program runs, so that
// every program starts on every machine and says in words what is missing. A plain table, shared by
// whoever launches or lists; any thread. The library stays open until the process ends.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <string_view>

#include "kernels/error.h"

namespace normd {

// member, the function of cuda.h that has its type, and the symbol: versions are named here,
// because cuda.h maps some names to versions that only the newest drivers have.
#define NORMD_DRIVER_FUNCTIONS(F)                                                       \
  F(get_error_name, cuGetErrorName, "cuGetErrorName")                                   \
  F(get_error_string, cuGetErrorString, "cuGetErrorString")                             \
  F(device_get_count, cuDeviceGetCount, "cuDeviceGetCount")                             \
  F(device_get, cuDeviceGet, "cuDeviceGet")                                             \
  F(device_get_name, cuDeviceGetName, "cuDeviceGetName")                                \
  F(device_get_board_uuid, cuDeviceGetUuid, "cuDeviceGetUuid")                          \
  F(device_get_uuid, cuDeviceGetUuid, "cuDeviceGetUuid_v2")                             \
  F(device_get_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute")                 \
  F(device_total_memory, cuDeviceTotalMem, "cuDeviceTotalMem_v2")                       \
  F(primary_context_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")       \
  F(primary_context_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") \
  F(context_set_current, cuCtxSetCurrent, "cuCtxSetCurrent")                            \
  F(stream_create, cuStreamCreate, "cuStreamCreate")                                    \
  F(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                              \
  F(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                     \
  F(stream_begin_capture, cuStreamBeginCapture, "cuStreamBeginCapture_v2")              \
  F(stream_end_capture, cuStreamEndCapture, "cuStreamEndCapture")                       \
  F(event_create, cuEventCreate, "cuEventCreate")                                       \
  F(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                                 \
  F(event_record_with_flags, cuEventRecordWithFlags, "cuEventRecordWithFlags")          \
  F(event_elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                       \
  F(module_load_data, cuModuleLoadDataEx, "cuModuleLoadDataEx")                         \
  F(module_unload, cuModuleUnload, "cuModuleUnload")                                    \
  F(module_get_function, cuModuleGetFunction, "cuModuleGetFunction")                    \
  F(function_get_attribute, cuFuncGetAttribute, "cuFuncGetAttribute")                   \
  F(function_set_attribute, cuFuncSetAttribute, "cuFuncSetAttribute")                   \
  F(occupancy_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                      \
    "cuOccupancyMaxActiveBlocksPerMultiprocessor")                                      \
  F(occupancy_clusters, cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters")   \
  F(launch_kernel, cuLaunchKernelEx, "cuLaunchKernelEx")                                \
  F(memory_allocate, cuMemAlloc, "cuMemAlloc_v2")                                       \
  F(memory_free, cuMemFree, "cuMemFree_v2")                                             \
  F(memory_granularity, cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity") \
  F(memory_create, cuMemCreate, "cuMemCreate")                                          \
  F(memory_release, cuMemRelease, "cuMemRelease")                                       \
  F(memory_map, cuMemMap, "cuMemMap")                                                   \
  F(memory_unmap, cuMemUnmap, "cuMemUnmap")                                             \
  F(memory_set_access, cuMemSetAccess, "cuMemSetAccess")                                \
  F(addresses_reserve, cuMemAddressReserve, "cuMemAddressReserve")                      \
  F(addresses_free, cuMemAddressFree, "cuMemAddressFree")                               \
  F(host_allocate, cuMemHostAlloc, "cuMemHostAlloc")                                    \
  F(host_free, cuMemFreeHost, "cuMemFreeHost")                                          \
  F(copy_in, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                 \
  F(copy_out, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                \
  F(copy_within, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                             \
  F(fill, cuMemsetD8Async, "cuMemsetD8Async")                                           \
  F(graph_destroy, cuGraphDestroy, "cuGraphDestroy")                                    \
  F(graph_instantiate, cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags")      \
  F(graph_upload, cuGraphUpload, "cuGraphUpload")                                       \
  F(graph_launch, cuGraphLaunch, "cuGraphLaunch")                                       \
  F(graph_exec_destroy, cuGraphExecDestroy, "cuGraphExecDestroy")

struct Driver {
#define NORMD_MEMBER(member, type, symbol) decltype(&type) member = nullptr;
  NORMD_DRIVER_FUNCTIONS(NORMD_MEMBER)
#undef NORMD_MEMBER
  // Since 12.4; null before.
  CUresult(CUDAAPI* function_get_parameter)(CUfunction, size_t, size_t*, size_t*) = nullptr;
  int cuda_version = 0;  // 13000 for CUDA 13.0: the newest that this driver supports

  std::string cuda_version_text() const;  // "13.0"

  // "illegal memory access (CUDA_ERROR_ILLEGAL_ADDRESS, 700)"
  std::string words_of(CUresult result) const;
  // The Error says what was tried, then the driver's words; its code follows device.h.
  Result<void> check(CUresult result, std::string_view tried) const;
};

// Opens and initialises the driver, which creates no context. failed_precondition says which it is:
// no driver library, a toolkit's stub, a driver too old, no GPU, or none visible to this process.
Result<std::shared_ptr<const Driver>> open_driver(const std::string& library);

}  // namespace normd
