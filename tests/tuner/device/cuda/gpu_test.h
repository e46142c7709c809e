// What the tests on a real GPU share: the device, opened once, and memory that holds floats.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/tuner/gpu_kernels.h"
#include "tuner/device/open_device.h"

namespace normd {

// The kernel, loaded; the test that asked fails with the tool's words if it cannot be.
inline std::unique_ptr<Kernel> load(Device& device, const std::string& entry,
                                    const Launch& launch) {
  const auto binary = compile_gpu_kernel(entry, device.spec().architecture());
  EXPECT_TRUE(binary) << binary.error().message;
  if (!binary) return nullptr;
  auto kernel = device.load(*binary, launch);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel ? *std::move(kernel) : nullptr;
}

// Device memory that begins as floats and can be read back as such.
class Floats {
 public:
  Floats(Device& device, const std::vector<float>& values)
      : device_(device), count_(values.size()) {
    auto memory = device.allocate(count_ * sizeof(float));
    EXPECT_TRUE(memory) << memory.error().message;
    memory_ = *std::move(memory);
    EXPECT_TRUE(device.copy_in(memory_->address(), values.data(), count_ * sizeof(float)));
  }
  float* address() const { return static_cast<float*>(memory_->address()); }
  std::vector<float> read() const {
    std::vector<float> values(count_);
    EXPECT_TRUE(device_.copy_out(values.data(), memory_->address(), count_ * sizeof(float)));
    return values;
  }

 private:
  Device& device_;
  std::size_t count_;
  std::unique_ptr<Memory> memory_;
};

class GpuTest : public testing::Test {
 protected:
  // One device for all tests: creating a context costs a good part of a second.
  static void SetUpTestSuite() {
    auto device = open_device("0");
    ASSERT_TRUE(device) << device.error().message;
    device_ = *std::move(device);
  }
  static void TearDownTestSuite() { device_.reset(); }

  void SetUp() override { ASSERT_NE(device_, nullptr); }
  // Whatever was refused, the device still works.
  void TearDown() override {
    if (device_ == nullptr) return;
    EXPECT_TRUE(device_->synchronize());
  }

  static double record_and_replay_ns(const std::vector<Call>& calls) {
    auto sequence = device_->record(calls);
    EXPECT_TRUE(sequence) << sequence.error().message;
    if (!sequence) return 0;
    const auto time = device_->replay_ns(**sequence);
    EXPECT_TRUE(time) << time.error().message;
    return time.value_or(0);
  }

  static inline std::unique_ptr<Device> device_;
};

}  // namespace normd
