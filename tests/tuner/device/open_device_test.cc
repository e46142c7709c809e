#include "tuner/device/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device_spec.h"

namespace normd {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(open_device, the_host_is_opened_by_its_name) {
  const auto device = open_device("host");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->spec().kind, DeviceKind::host);
}

TEST(open_device, the_host_takes_the_limits_of_a_chip) {
  const auto device = open_device("host:sm_75");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->spec().kind, DeviceKind::host);
  EXPECT_EQ((*device)->spec().shared_bytes_per_block_max,
            architecture_preset("sm_75")->shared_bytes_per_block_max);
}

TEST(open_device, what_is_no_name_of_a_device_is_refused_by_field) {
  for (const char* name : {"", "cuda", "gpu0", "0x0", "0 ", " 0", "hosts", "GPU", "host:sm_1"}) {
    const auto device = open_device(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().code, ErrorCode::invalid_argument) << name;
    EXPECT_THAT(device.error().message, HasSubstr(name)) << name;
  }
  EXPECT_EQ(open_device("cuda").error().field, "device");
}

// On a machine without a GPU the words say which of four things is missing; on one with a GPU the
// index that no machine has is not found. Never a crash, never silence.
TEST(open_device, a_gpu_that_is_not_there_is_refused_in_words) {
  for (const char* name : {"9999", "GPU-00000000-0000-0000-0000-000000000000",
                           "MIG-00000000-0000-0000-0000-000000000000"}) {
    const auto device = open_device(name);
    ASSERT_FALSE(device) << name;
    EXPECT_THAT(device.error().code, AnyOf(ErrorCode::failed_precondition, ErrorCode::not_found));
    EXPECT_THAT(device.error().message,
                AnyOf(HasSubstr("no CUDA driver: libcuda.so.1 cannot be opened"),
                      HasSubstr("too old"), HasSubstr("finds no GPU"),
                      HasSubstr("CUDA_VISIBLE_DEVICES"), HasSubstr("starting the CUDA driver"),
                      HasSubstr("stub"), HasSubstr("no GPU '" + std::string(name) + "'")));
  }
}

TEST(list_gpus, lists_gpus_or_says_what_is_missing) {
  const auto gpus = list_gpus();
  if (gpus) {
    EXPECT_FALSE(gpus->empty());
    for (const DeviceListing& gpu : *gpus) {
      EXPECT_EQ(gpu.spec.kind, DeviceKind::cuda);
      EXPECT_GE(gpu.spec.capability, 50);
      EXPECT_GT(gpu.spec.sm_count, 0);
      EXPECT_THAT(gpu.identity.uuid,
                  AnyOf(testing::StartsWith("GPU-"), testing::StartsWith("MIG-")));
    }
  } else {
    EXPECT_EQ(gpus.error().code, ErrorCode::failed_precondition);
    EXPECT_FALSE(gpus.error().message.empty());
  }
}

}  // namespace
}  // namespace normd
