#include "tuner/device/cuda/driver.h"

#include <dlfcn.h>

#include <filesystem>

namespace normd {
namespace {

// cuLaunchKernelEx came with 11.8; NVIDIA tests compilers of CUDA 12 with drivers from 525 on.
constexpr int cuda_version_min = 12000;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

template <typename Function>
bool find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

// GPUs that the kernel module drives, whether this process may see them or not.
int gpus_of_the_machine() {
  std::error_code error;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    count += entry.is_directory(error) ? 1 : 0;
  }
  return count;
}

tl::unexpected<Error> no_gpu() {
  const int count = gpus_of_the_machine();
  if (count == 0) {
    return fail(ErrorCode::failed_precondition, "the CUDA driver finds no GPU on this machine");
  }
  return fail(ErrorCode::failed_precondition,
              "this machine has " + std::to_string(count) +
                  " GPU(s), but none is visible to this process: CUDA_VISIBLE_DEVICES is empty, "
                  "-1 or names none of them, or the container was not given one");
}

tl::unexpected<Error> no_driver(const std::string& library, const std::string& loader_words) {
  const bool module_loaded = std::filesystem::exists("/proc/driver/nvidia/version");
  return fail(ErrorCode::failed_precondition,
              "no CUDA driver: " + library + " cannot be opened (" + loader_words + "). " +
                  (module_loaded ? "The kernel module is loaded, so this is a container without "
                                   "the driver's libraries: start it with GPU access"
                                 : "A GPU needs NVIDIA's driver 525 or newer"));
}

tl::unexpected<Error> stub(const std::string& library) {
  return fail(ErrorCode::failed_precondition,
              library + " is the toolkit's stub for linking, not a driver");
}

// Codes of cuInit that deserve words of their own; the driver's are for all others.
Result<void> explain_init(const Driver& driver, CUresult result, const std::string& library) {
  if (result == CUDA_ERROR_NO_DEVICE) return no_gpu();
  if (result == CUDA_ERROR_STUB_LIBRARY) return stub(library);
  if (auto checked = driver.check(result, "starting the CUDA driver"); !checked) {
    return fail(ErrorCode::failed_precondition, checked.error().message);
  }
  return {};
}

// Which kind of failure a code is, by device.h. The first group destroys the context for good.
ErrorCode error_code_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return ErrorCode::unavailable;
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
      return ErrorCode::resource_exhausted;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return ErrorCode::internal;
    default:
      break;
  }
  // 226 (CONTAINED) and 721 (TENSOR_MEMORY_LEAK) are unknown to the headers of older toolkits.
  const int number = static_cast<int>(result);
  return number == 226 || number == 721 ? ErrorCode::unavailable : ErrorCode::failed_precondition;
}

const char* first_missing_symbol(void* handle, Driver& driver) {
#define NORMD_FIND(member, type, symbol) \
  if (!find(handle, symbol, driver.member)) return symbol;
  NORMD_DRIVER_FUNCTIONS(NORMD_FIND)
#undef NORMD_FIND
  find(handle, "cuFuncGetParamInfo", driver.function_get_parameter);
  return nullptr;
}

}  // namespace

std::string Driver::cuda_version_text() const {
  return version_text(cuda_version);
}

std::string Driver::words_of(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(result, &name);
  get_error_string(result, &text);
  return std::string(text != nullptr ? text : "no description") + " (" +
         (name != nullptr ? name : "CUDA error") + ", " + std::to_string(static_cast<int>(result)) +
         ")";
}

Result<void> Driver::check(CUresult result, std::string_view tried) const {
  if (result == CUDA_SUCCESS) return {};
  return fail(error_code_of(result), std::string(tried) + ": " + words_of(result));
}

Result<std::shared_ptr<const Driver>> open_driver(const std::string& library) {
  // The driver keeps threads and exit handlers of its own: it is never unloaded.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* words = dlerror();
    return no_driver(library, words != nullptr ? words : "no reason given");
  }
  auto driver = std::make_shared<Driver>();
  decltype(&cuInit) init = nullptr;
  decltype(&cuDriverGetVersion) get_version = nullptr;
  if (!find(handle, "cuInit", init) || !find(handle, "cuDriverGetVersion", get_version)) {
    return fail(ErrorCode::failed_precondition, library + " is no CUDA driver");
  }
  const CUresult told = get_version(&driver->cuda_version);
  if (told == CUDA_ERROR_STUB_LIBRARY) return stub(library);
  const char* missing = first_missing_symbol(handle, *driver);
  if (told == CUDA_SUCCESS && driver->cuda_version < cuda_version_min) {
    return fail(ErrorCode::failed_precondition, "the CUDA driver is too old: it supports CUDA " +
                                                    driver->cuda_version_text() + ", and " +
                                                    version_text(cuda_version_min) +
                                                    " (driver 525) is the oldest that serves");
  }
  if (missing != nullptr) {
    return fail(ErrorCode::failed_precondition,
                "the CUDA driver (CUDA " + driver->cuda_version_text() + ") has no " + missing);
  }
  if (auto up = explain_init(*driver, init(0), library); !up) return fail(std::move(up.error()));
  int count = 0;
  if (driver->device_get_count(&count) == CUDA_SUCCESS && count == 0) return no_gpu();
  return driver;
}

}  // namespace normd
