// OnDevice: a test with the device that the program is built for (test_device.h), opened anew.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/tuner/worker/test_device.h"

namespace normd {

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    test_device_spec();  // ends the program where there is no such device
    auto device = open_device(test_device);
    ASSERT_TRUE(device) << device.error().message;
    device_ = *std::move(device);
  }

  std::unique_ptr<Device> device_;
};

}  // namespace normd
