#include "tuner/device/cuda/open_cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/device/cuda/fake_driver.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

// No management library, so that nothing of the machine that runs the test shows.
CudaLibraries fake_libraries() {
  return {.driver = fake_driver_path(), .management = "/no/such/libnvidia-ml.so.1"};
}

Error listing_error(const CudaLibraries& libraries = fake_libraries()) {
  const auto listings = list_cuda_devices(libraries);
  EXPECT_FALSE(listings);
  return listings ? Error{} : listings.error();
}

TEST(open_driver, a_missing_library_is_named_with_the_loaders_words) {
  const Error error = listing_error({.driver = "/no/such/libcuda.so.1"});
  EXPECT_EQ(error.code, ErrorCode::failed_precondition);
  EXPECT_THAT(error.message, AllOf(HasSubstr("no CUDA driver"), HasSubstr("/no/such/libcuda.so.1"),
                                   HasSubstr("No such file")));
}

TEST(open_driver, a_library_that_is_no_driver_is_refused) {
  EXPECT_THAT(listing_error({.driver = "libm.so.6"}).message,
              HasSubstr("libm.so.6 is no CUDA driver"));
}

TEST(open_driver, a_stub_for_linking_is_called_a_stub) {
  for (const char* function : {"cuDriverGetVersion", "cuInit"}) {
    fresh_fake_driver().results[function] = 34;
    EXPECT_THAT(listing_error().message, HasSubstr("stub for linking, not a driver"));
  }
}

TEST(open_driver, a_driver_too_old_is_told_by_both_versions) {
  fresh_fake_driver().version = 11040;
  EXPECT_THAT(listing_error().message,
              AllOf(HasSubstr("too old"), HasSubstr("11.4"), HasSubstr("525")));
}

TEST(open_driver, no_gpu_at_all_and_none_visible_differ_from_other_failures) {
  fresh_fake_driver().results["cuInit"] = 100;
  const Error error = listing_error();
  EXPECT_EQ(error.code, ErrorCode::failed_precondition);
  EXPECT_THAT(error.message, AnyOf(HasSubstr("finds no GPU"), HasSubstr("CUDA_VISIBLE_DEVICES")));
  fresh_fake_driver().device_count = 0;
  EXPECT_EQ(listing_error().message, error.message);
}

TEST(open_driver, any_other_failure_to_start_is_in_the_drivers_words) {
  fresh_fake_driver().results["cuInit"] = 803;
  EXPECT_THAT(listing_error().message,
              AllOf(HasSubstr("starting the CUDA driver"), HasSubstr("the driver's own words"),
                    HasSubstr("803")));
}

TEST(list_cuda_devices, listing_creates_no_context) {
  FakeDriver& fake = fresh_fake_driver();
  fake.device_count = 2;
  const auto listings = list_cuda_devices(fake_libraries());
  ASSERT_TRUE(listings) << listings.error().message;
  EXPECT_EQ(listings->size(), 2u);
  EXPECT_EQ(fake.calls.count("cuDevicePrimaryCtxRetain"), 0u);
  EXPECT_EQ(fake.open_handles, 0);
}

TEST(list_cuda_devices, the_spec_is_what_the_driver_says_in_our_units) {
  fresh_fake_driver();
  const auto listings = list_cuda_devices(fake_libraries());
  ASSERT_TRUE(listings) << listings.error().message;
  const DeviceSpec expected{.kind = DeviceKind::cuda,
                            .name = "NVIDIA H100",
                            .capability = 90,
                            .sm_count = 132,
                            .threads_per_block_max = 1024,
                            .threads_per_sm_max = 2048,
                            .blocks_per_sm_max = 32,
                            .registers_per_sm = 65536,
                            .shared_bytes_per_block_max = 232448,
                            .shared_bytes_per_sm = 233472,
                            .l2_bytes = 52428800,
                            .memory_bytes = std::int64_t{80} << 30,
                            .sm_clock_mhz = 1980,
                            .memory_clock_mhz = 2619,
                            .memory_bus_bits = 5120,
                            .vector_bytes_max = 16,
                            .measure_bytes = std::int64_t{128} << 20};
  EXPECT_EQ(listings->front().spec, expected);
}

TEST(list_cuda_devices, vectors_of_32_bytes_begin_with_capability_100) {
  FakeDriver& fake = fresh_fake_driver();
  fake.attributes = {{75, 10}, {76, 3}};  // compute capability, major and minor
  const auto listings = list_cuda_devices(fake_libraries());
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().spec.capability, 103);
  EXPECT_EQ(listings->front().spec.vector_bytes_max, 32);
}

TEST(list_cuda_devices, a_whole_gpu_and_a_mig_slice_are_told_apart) {
  FakeDriver& fake = fresh_fake_driver();
  auto listings = list_cuda_devices(fake_libraries());
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().identity.uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00");
  EXPECT_EQ(listings->front().identity.mig, "none");
  EXPECT_THAT(listings->front().identity.driver, HasSubstr("13.0"));
  fake.mig = true;
  listings = list_cuda_devices(fake_libraries());
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().identity.uuid, "MIG-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae77");
  EXPECT_EQ(listings->front().identity.mig, "1g.10gb");
}

TEST(list_cuda_devices, the_management_library_adds_power_limit_and_driver_version) {
  FakeDriver& fake = fresh_fake_driver();
  const CudaLibraries libraries{.driver = fake_driver_path(), .management = fake_driver_path()};
  auto listings = list_cuda_devices(libraries);
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().identity.driver, "13.0 (580.95.05)");
  EXPECT_EQ(listings->front().identity.power_limit_w, 700);
  EXPECT_EQ(listings->front().spec.sm_clock_mhz, 1980);  // the driver's own word comes first
  EXPECT_EQ(fake.open_handles, 0);
  fake.results["nvmlDeviceGetEnforcedPowerLimit"] = 3;  // not supported, as on a MIG slice
  listings = list_cuda_devices(libraries);
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().identity.power_limit_w, 0);
}

TEST(list_cuda_devices, clocks_that_the_driver_does_not_know_come_from_the_management_library) {
  FakeDriver& fake = fresh_fake_driver();
  fake.attributes = {{13, 0}, {36, 0}};  // clock rates of the SMs and of memory
  const auto listings =
      list_cuda_devices({.driver = fake_driver_path(), .management = fake_driver_path()});
  ASSERT_TRUE(listings);
  EXPECT_EQ(listings->front().spec.sm_clock_mhz, 1755);
  EXPECT_EQ(listings->front().spec.memory_clock_mhz, 2600);
}

TEST(open_cuda_device, an_index_and_a_uuid_open_the_same_gpu) {
  FakeDriver& fake = fresh_fake_driver();
  fake.device_count = 2;
  for (const char* name : {"1", "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae01"}) {
    const auto device = open_cuda_device(name, fake_libraries());
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ((*device)->identity().ordinal, 1);
  }
  EXPECT_EQ(fake.open_handles, 0);
}

TEST(open_cuda_device, an_unknown_name_is_not_found_and_the_message_lists_what_is_there) {
  fresh_fake_driver();
  for (const char* name : {"1", "-1", "GPU-0", "MIG-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00"}) {
    const auto device = open_cuda_device(name, fake_libraries());
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().code, ErrorCode::not_found);
    EXPECT_EQ(device.error().field, "device");
    EXPECT_THAT(device.error().message,
                HasSubstr("0 GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00 NVIDIA H100"));
  }
}

TEST(open_cuda_device, what_was_opened_before_a_failure_is_closed) {
  FakeDriver& fake = fresh_fake_driver();
  for (const char* failing : {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate"}) {
    fake = FakeDriver{};
    fake.results[failing] = 2;
    const auto device = open_cuda_device("0", fake_libraries());
    ASSERT_FALSE(device) << failing;
    EXPECT_EQ(device.error().code, ErrorCode::resource_exhausted) << failing;
    EXPECT_EQ(fake.open_handles, 0) << failing;
  }
}

}  // namespace
}  // namespace normd
