#include "tuner/device/cuda/management.h"

#include <dlfcn.h>

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

namespace normd {
namespace {

// The few declarations of NVML that are used; toolkits do not always carry nvml.h. All functions
// return 0 on success.
using NvmlDevice = nvmlDevice_st*;
constexpr unsigned nvml_clock_sm = 1;
constexpr unsigned nvml_clock_memory = 2;

// The more particular first: NVML sets hw_slowdown beside the two that cause it.
constexpr struct {
  unsigned long long bit;
  std::string_view name;
} holding_back[] = {
    {0x40, "hw_thermal_slowdown"},
    {0x80, "hw_power_brake"},
    {0x08, "hw_slowdown"},
    {0x20, "sw_thermal_slowdown"},
};

struct LibraryCloser {
  void operator()(void* handle) const { dlclose(handle); }
};

template <typename Function>
bool find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

int clock_mhz(int (*read)(NvmlDevice, unsigned, unsigned*), NvmlDevice device, unsigned clock) {
  unsigned value = 0;
  return read != nullptr && read(device, clock, &value) == 0 ? static_cast<int>(value) : 0;
}

}  // namespace

struct ManagementTable {
  std::unique_ptr<void, LibraryCloser> library;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*power_limit_mw)(NvmlDevice, unsigned*) = nullptr;
  int (*clock_max_mhz)(NvmlDevice, unsigned, unsigned*) = nullptr;
  // Null where the library has none.
  int (*clock_now_mhz)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*clock_reasons)(NvmlDevice, unsigned long long*) = nullptr;
  bool started = false;

  ~ManagementTable() {
    if (started) shutdown();
  }
};

Management::Management(const std::string& library) {
  auto table = std::make_shared<ManagementTable>();
  table->library.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  void* handle = table->library.get();
  const bool complete = handle != nullptr && find(handle, "nvmlInit_v2", table->init) &&
                        find(handle, "nvmlShutdown", table->shutdown) &&
                        find(handle, "nvmlSystemGetDriverVersion", table->driver_version) &&
                        find(handle, "nvmlDeviceGetHandleByUUID", table->device_by_uuid) &&
                        find(handle, "nvmlDeviceGetEnforcedPowerLimit", table->power_limit_mw) &&
                        find(handle, "nvmlDeviceGetMaxClockInfo", table->clock_max_mhz);
  if (!complete || table->init() != 0) return;
  table->started = true;
  find(handle, "nvmlDeviceGetClockInfo", table->clock_now_mhz);
  // The second is its name in older libraries.
  if (!find(handle, "nvmlDeviceGetCurrentClocksEventReasons", table->clock_reasons)) {
    find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", table->clock_reasons);
  }
  table_ = std::move(table);
}

Board Management::board(const std::string& uuid) const {
  Board board;
  board.table_ = table_;
  NvmlDevice device = nullptr;
  if (table_ != nullptr && table_->device_by_uuid(uuid.c_str(), &device) == 0) {
    board.device_ = device;
  }
  return board;
}

BoardFacts Board::facts() const {
  BoardFacts facts;
  if (table_ == nullptr) {
    std::ifstream("/sys/module/nvidia/version") >> facts.driver_version;
    return facts;
  }
  std::array<char, 96> version{};
  if (table_->driver_version(version.data(), version.size()) == 0) {
    facts.driver_version = version.data();
  }
  if (!device_) return facts;
  unsigned milliwatts = 0;
  if (table_->power_limit_mw(*device_, &milliwatts) == 0) {
    facts.power_limit_w = static_cast<int>(milliwatts / 1000);
  }
  facts.sm_clock_mhz = clock_mhz(table_->clock_max_mhz, *device_, nvml_clock_sm);
  facts.memory_clock_mhz = clock_mhz(table_->clock_max_mhz, *device_, nvml_clock_memory);
  return facts;
}

DeviceCondition Board::condition() const {
  DeviceCondition condition;
  if (!device_) return condition;
  condition.sm_clock_mhz = clock_mhz(table_->clock_now_mhz, *device_, nvml_clock_sm);
  condition.memory_clock_mhz = clock_mhz(table_->clock_now_mhz, *device_, nvml_clock_memory);
  unsigned long long reasons = 0;
  if (table_->clock_reasons == nullptr || table_->clock_reasons(*device_, &reasons) != 0) {
    return condition;
  }
  for (const auto& reason : holding_back) {
    if ((reasons & reason.bit) == 0) continue;
    condition.held_back = reason.name;
    break;
  }
  return condition;
}

}  // namespace normd
