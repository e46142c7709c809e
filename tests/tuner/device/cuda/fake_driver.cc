#include "tests/tuner/device/cuda/fake_driver.h"

#include <cuda.h>

#include <cstring>

// cuda.h gives some functions the name of a later version. Here each symbol is spelled as in the
// library.
#undef cuDeviceGetUuid
#undef cuEventElapsedTime

namespace {

normd::FakeDriver state;

CUresult answer(const char* function) {
  return static_cast<CUresult>(state.answer(function));
}

// Handles are made up: nobody looks behind them.
template <typename Handle>
CUresult open(const char* function, Handle* handle) {
  const CUresult result = answer(function);
  if (result != CUDA_SUCCESS) return result;
  ++state.open_handles;
  *handle = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
  return result;
}

CUresult close(const char* function) {
  --state.open_handles;
  return answer(function);
}

int h100_attribute(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 233472;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 52428800;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1980000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2619000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    default:
      return 0;
  }
}

void fill_uuid(CUuuid* uuid, char last) {
  for (int i = 0; i < 15; ++i) uuid->bytes[i] = static_cast<char>(0xa0 + i);
  uuid->bytes[15] = last;
}

}  // namespace

extern "C" {

normd::FakeDriver* normd_fake_driver_state() {
  return &state;
}

CUresult cuInit(unsigned) {
  return answer("cuInit");
}
CUresult cuDriverGetVersion(int* version) {
  *version = state.version;
  return answer("cuDriverGetVersion");
}
CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR_BY_NAME";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "the driver's own words";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = state.device_count;
  return answer("cuDeviceGetCount");
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return answer("cuDeviceGet");
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, state.mig ? "NVIDIA H100 MIG 1g.10gb" : "NVIDIA H100",
               static_cast<std::size_t>(bytes));
  return answer("cuDeviceGetName");
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  fill_uuid(uuid, static_cast<char>(device));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  fill_uuid(uuid, static_cast<char>(state.mig ? 0x77 : device));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const auto found = state.attributes.find(static_cast<int>(attribute));
  *value = found == state.attributes.end() ? h100_attribute(attribute) : found->second;
  return answer("cuDeviceGetAttribute");
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{80} << 30;
  return answer("cuDeviceTotalMem");
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return open("cuDevicePrimaryCtxRetain", context);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return close("cuDevicePrimaryCtxRelease");
}
CUresult cuCtxSetCurrent(CUcontext) {
  return answer("cuCtxSetCurrent");
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return open("cuStreamCreate", stream);
}
CUresult cuStreamDestroy_v2(CUstream) {
  return close("cuStreamDestroy");
}
CUresult cuStreamSynchronize(CUstream) {
  return answer("cuStreamSynchronize");
}
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
  const CUresult result = answer("cuStreamBeginCapture");
  state.recording = result == CUDA_SUCCESS;
  return result;
}
CUresult cuStreamEndCapture(CUstream, CUgraph* graph) {
  state.recording = false;
  return open("cuStreamEndCapture", graph);
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  return open("cuEventCreate", event);
}
CUresult cuEventDestroy_v2(CUevent) {
  return close("cuEventDestroy");
}
CUresult cuEventRecordWithFlags(CUevent, CUstream, unsigned) {
  return answer("cuEventRecordWithFlags");
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  *milliseconds = state.elapsed_ms;
  return answer("cuEventElapsedTime");
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned count, CUjit_option* names,
                            void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
    std::strcpy(static_cast<char*>(values[i]), state.load_log.c_str());
  }
  return open("cuModuleLoadDataEx", module);
}
CUresult cuModuleUnload(CUmodule) {
  return close("cuModuleUnload");
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  *function = reinterpret_cast<CUfunction>(std::uintptr_t{0x2000});
  return answer("cuModuleGetFunction");
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? state.static_shared_bytes : 40;
  return answer("cuFuncGetAttribute");
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    state.dynamic_shared_bytes_allowed = value;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
    state.non_portable_cluster_allowed = value == 1;
  }
  return answer("cuFuncSetAttribute");
}
CUresult cuFuncGetParamInfo(CUfunction, std::size_t, std::size_t* offset, std::size_t* bytes) {
  *offset = 0;
  *bytes = state.argument_bytes;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  *blocks = state.occupancy_blocks;
  return answer("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
  *clusters = state.occupancy_clusters;
  return answer("cuOccupancyMaxActiveClusters");
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void**, void**) {
  normd::FakeLaunch launch{.grid = config->gridDimX,
                           .block = config->blockDimX,
                           .shared_bytes = config->sharedMemBytes,
                           .while_recording = state.recording};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      launch.cluster = attribute.value.clusterDim.x;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      launch.cooperative = attribute.value.cooperative == 1;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      launch.programmatic = attribute.value.programmaticStreamSerializationAllowed == 1;
    }
  }
  state.launches.push_back(launch);
  return answer("cuLaunchKernelEx");
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t) {
  const CUresult result = answer("cuMemAlloc");
  if (result == CUDA_SUCCESS) ++state.open_handles;
  *address = 0x10000;
  return result;
}
CUresult cuMemFree_v2(CUdeviceptr) {
  return close("cuMemFree");
}
CUresult cuMemHostAlloc(void** address, std::size_t, unsigned) {
  return open("cuMemHostAlloc", address);
}
CUresult cuMemFreeHost(void*) {
  return close("cuMemFreeHost");
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, std::size_t, CUstream) {
  return answer("cuMemcpyHtoDAsync");
}
CUresult cuMemcpyDtoHAsync_v2(void*, CUdeviceptr, std::size_t, CUstream) {
  return answer("cuMemcpyDtoHAsync");
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
  return answer("cuMemcpyDtoDAsync");
}
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, std::size_t, CUstream) {
  return answer("cuMemsetD8Async");
}

CUresult cuGraphDestroy(CUgraph) {
  return close("cuGraphDestroy");
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* graph, CUgraph, unsigned long long) {
  return open("cuGraphInstantiateWithFlags", graph);
}
CUresult cuGraphUpload(CUgraphExec, CUstream) {
  return answer("cuGraphUpload");
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) {
  return answer("cuGraphLaunch");
}
CUresult cuGraphExecDestroy(CUgraphExec) {
  return close("cuGraphExecDestroy");
}

}  // extern "C"
