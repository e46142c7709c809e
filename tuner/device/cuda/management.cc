#include "tuner/device/cuda/management.h"

#include <dlfcn.h>

#include <array>
#include <fstream>
#include <utility>

namespace normd {
namespace {

// The few declarations of NVML that are used; toolkits do not always carry nvml.h. All functions
// return 0 on success.
using NvmlDevice = struct nvmlDevice_st*;
constexpr unsigned nvml_clock_sm = 1;
constexpr unsigned nvml_clock_memory = 2;

struct LibraryCloser {
  void operator()(void* handle) const { dlclose(handle); }
};

}  // namespace

struct Management::Table {
  std::unique_ptr<void, LibraryCloser> library;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*power_limit_mw)(NvmlDevice, unsigned*) = nullptr;
  int (*clock_max_mhz)(NvmlDevice, unsigned, unsigned*) = nullptr;
};

namespace {

template <typename Function>
bool find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

}  // namespace

Management::Management(const std::string& library) {
  auto table = std::make_unique<Table>();
  table->library.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  void* handle = table->library.get();
  const bool complete = handle != nullptr && find(handle, "nvmlInit_v2", table->init) &&
                        find(handle, "nvmlShutdown", table->shutdown) &&
                        find(handle, "nvmlSystemGetDriverVersion", table->driver_version) &&
                        find(handle, "nvmlDeviceGetHandleByUUID", table->device_by_uuid) &&
                        find(handle, "nvmlDeviceGetEnforcedPowerLimit", table->power_limit_mw) &&
                        find(handle, "nvmlDeviceGetMaxClockInfo", table->clock_max_mhz);
  if (complete && table->init() == 0) table_ = std::move(table);
}

Management::~Management() {
  if (table_ != nullptr) table_->shutdown();
}

BoardFacts Management::read(const std::string& uuid) const {
  BoardFacts facts;
  if (table_ == nullptr) {
    std::ifstream("/sys/module/nvidia/version") >> facts.driver_version;
    return facts;
  }
  std::array<char, 96> version{};
  if (table_->driver_version(version.data(), version.size()) == 0) {
    facts.driver_version = version.data();
  }
  NvmlDevice device = nullptr;
  if (table_->device_by_uuid(uuid.c_str(), &device) != 0) return facts;
  unsigned value = 0;
  if (table_->power_limit_mw(device, &value) == 0) {
    facts.power_limit_w = static_cast<int>(value / 1000);
  }
  if (table_->clock_max_mhz(device, nvml_clock_sm, &value) == 0) {
    facts.sm_clock_mhz = static_cast<int>(value);
  }
  if (table_->clock_max_mhz(device, nvml_clock_memory, &value) == 0) {
    facts.memory_clock_mhz = static_cast<int>(value);
  }
  return facts;
}

}  // namespace normd
