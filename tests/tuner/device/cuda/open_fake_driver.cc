#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/tuner/device/cuda/fake_driver.h"

namespace normd {

std::string fake_driver_path() {
  return NORMD_FAKE_DRIVER;
}

std::string fake_old_management_path() {
  return NORMD_FAKE_OLD_MANAGEMENT;
}

std::string fake_oldest_management_path() {
  return NORMD_FAKE_OLDEST_MANAGEMENT;
}

FakeDriver& fresh_fake_driver() {
  void* handle = dlopen(NORMD_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  void* symbol = handle != nullptr ? dlsym(handle, "normd_fake_driver_state") : nullptr;
  if (symbol == nullptr) {
    std::fprintf(stderr, "%s is not the fake driver\n", NORMD_FAKE_DRIVER);
    std::abort();
  }
  FakeDriver& state = *reinterpret_cast<FakeDriver* (*)()>(symbol)();
  state = FakeDriver{};
  return state;
}

}  // namespace normd
