// FakeDeviceTest: a CudaDevice over the stand-in for the driver, and a binary that it takes.
// Included by tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "kernels/digest.h"
#include "tests/tuner/device/cuda/fake_driver.h"
#include "tuner/device/cuda/open_cuda_device.h"

namespace normd {

inline Binary some_binary(BinaryFormat format = BinaryFormat::cubin) {
  return {.format = format,
          .bytes = "machine code",
          .digest = sha256_hex("machine code"),
          .entry = "some_kernel",
          .target = format == BinaryFormat::ptx ? "compute_120" : "sm_90",
          .compiler = "NVRTC 13.1"};
}

class FakeDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = &fresh_fake_driver();
    auto device = open_cuda_device(
        "0", {.driver = fake_driver_path(), .management = "/no/such/libnvidia-ml.so.1"});
    ASSERT_TRUE(device) << device.error().message;
    device_ = *std::move(device);
  }
  // Every test ends with everything closed, once.
  void TearDown() override {
    device_.reset();
    EXPECT_EQ(fake_->open_handles, 0);
  }

  std::unique_ptr<Kernel> load(const Launch& launch) {
    auto kernel = device_->load(some_binary(), launch);
    EXPECT_TRUE(kernel) << kernel.error().message;
    return kernel ? *std::move(kernel) : nullptr;
  }
  Error load_error(const Binary& binary, const Launch& launch = {.block = 256}) {
    auto kernel = device_->load(binary, launch);
    EXPECT_FALSE(kernel);
    return kernel ? Error{} : kernel.error();
  }

  FakeDriver* fake_ = nullptr;
  std::unique_ptr<Device> device_;
  std::array<std::byte, 8> arguments_{};
};

}  // namespace normd
