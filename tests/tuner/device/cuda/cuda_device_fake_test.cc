// CudaDevice over a stand-in for the driver: what it asks for, and what it makes of each answer.
// The same device on a real GPU is in cuda_device_test.cc.
#include <vector>

#include "tests/tuner/device/cuda/fake_device_test.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(FakeDeviceTest, a_wrong_digest_is_data_loss_and_nothing_is_loaded) {
  Binary binary = some_binary();
  binary.bytes.back() = 'E';
  const Error error = load_error(binary);
  EXPECT_EQ(error.code, ErrorCode::data_loss);
  EXPECT_THAT(error.message, AllOf(HasSubstr("some_kernel"), HasSubstr(binary.digest)));
  EXPECT_EQ(fake_->calls.count("cuModuleLoadDataEx"), 0u);
}

TEST_F(FakeDeviceTest, a_host_object_is_refused) {
  EXPECT_EQ(load_error(some_binary(BinaryFormat::host_object)).code,
            ErrorCode::failed_precondition);
}

TEST_F(FakeDeviceTest, ptx_newer_than_the_driver_is_one_message_with_both_versions) {
  fake_->results["cuModuleLoadDataEx"] = 222;
  fake_->load_log = "Unsupported .version 9.1";
  const Error error = load_error(some_binary(BinaryFormat::ptx));
  EXPECT_EQ(error.code, ErrorCode::failed_precondition);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("the driver, CUDA 13.0"), HasSubstr("NVRTC 13.1"),
                    HasSubstr("compute_120"), HasSubstr("Unsupported .version 9.1")));
}

TEST_F(FakeDeviceTest, an_image_the_driver_cannot_read_names_who_made_it) {
  for (const int code : {200, 209}) {
    fake_->results["cuModuleLoadDataEx"] = code;
    const Error error = load_error(some_binary());
    EXPECT_EQ(error.code, ErrorCode::failed_precondition);
    EXPECT_THAT(error.message, AllOf(HasSubstr("the driver's own words"), HasSubstr("NVRTC 13.1"),
                                     HasSubstr("sm_90"), HasSubstr("13.0")));
  }
}

TEST_F(FakeDeviceTest, a_module_without_the_kernel_is_unloaded_again) {
  fake_->results["cuModuleGetFunction"] = 500;
  EXPECT_THAT(load_error(some_binary()).message, HasSubstr("some_kernel"));
  EXPECT_EQ(fake_->calls["cuModuleUnload"], 1);
}

TEST_F(FakeDeviceTest, dynamic_shared_memory_is_allowed_only_above_48_kib) {
  load({.block = 256, .shared_bytes = 48 * 1024});
  EXPECT_EQ(fake_->dynamic_shared_bytes_allowed, 0);
  load({.block = 256, .shared_bytes = 48 * 1024 + 4});
  EXPECT_EQ(fake_->dynamic_shared_bytes_allowed, 48 * 1024 + 4);
  fake_->static_shared_bytes = 4;
  load({.block = 256, .shared_bytes = 48 * 1024});
  EXPECT_EQ(fake_->dynamic_shared_bytes_allowed, 48 * 1024);
}

TEST_F(FakeDeviceTest, over_limit_launches_are_refused_before_the_driver_sees_them) {
  EXPECT_THAT(load_error(some_binary(), {.block = 256, .shared_bytes = 232449}).message,
              AllOf(HasSubstr("232449"), HasSubstr("232448")));
  EXPECT_THAT(load_error(some_binary(), {.block = 1056}).message, HasSubstr("1056 threads"));
  EXPECT_EQ(load_error(some_binary(), {.block = 0}).code, ErrorCode::failed_precondition);
  EXPECT_EQ(fake_->calls.count("cuModuleLoadDataEx"), 0u);
  fake_->static_shared_bytes = 1024;
  EXPECT_THAT(load_error(some_binary(), {.block = 256, .shared_bytes = 232448}).message,
              HasSubstr("233472"));
}

TEST_F(FakeDeviceTest, a_block_that_fits_no_sm_is_refused) {
  fake_->occupancy_blocks = 0;
  const Error error = load_error(some_binary(), {.block = 1024});
  EXPECT_EQ(error.code, ErrorCode::failed_precondition);
  EXPECT_THAT(error.message, HasSubstr("not one block of 1024 threads with 40 registers"));
}

TEST_F(FakeDeviceTest, a_cluster_that_fits_nowhere_is_refused) {
  fake_->occupancy_clusters = 0;
  EXPECT_THAT(load_error(some_binary(), {.block = 256, .cluster = 16}).message,
              HasSubstr("not one cluster of 16 blocks"));
}

TEST_F(FakeDeviceTest, errors_that_destroy_the_context_are_unavailable) {
  for (const int code :
       {46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721}) {
    fake_->results["cuStreamSynchronize"] = code;
    const auto waited = device_->synchronize();
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().code, ErrorCode::unavailable) << code;
    EXPECT_THAT(waited.error().message, HasSubstr("the driver's own words"));
  }
}

TEST_F(FakeDeviceTest, out_of_memory_is_resource_exhausted) {
  fake_->results["cuMemAlloc"] = 2;
  fake_->results["cuMemHostAlloc"] = 2;
  for (const auto& memory : {device_->allocate(1 << 20), device_->allocate_staging(1 << 20)}) {
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, ErrorCode::resource_exhausted);
    EXPECT_THAT(memory.error().message, HasSubstr("1048576 bytes"));
  }
}

TEST_F(FakeDeviceTest, memory_frees_itself_even_after_its_device) {
  auto memory = device_->allocate(0);
  auto staging = device_->allocate_staging(16);
  ASSERT_TRUE(memory && staging);
  EXPECT_EQ((*memory)->bytes(), 0u);
  EXPECT_NE((*memory)->address(), nullptr);
  device_.reset();
  EXPECT_EQ(fake_->calls.count("cuDevicePrimaryCtxRelease"), 0u);
  memory->reset();
  staging->reset();
  EXPECT_EQ(fake_->calls["cuDevicePrimaryCtxRelease"], 1);
}

TEST_F(FakeDeviceTest, copies_to_and_from_the_host_wait_and_empty_ones_do_nothing) {
  std::array<std::byte, 4> host{};
  ASSERT_TRUE(device_->copy_in(host.data(), host.data(), 0));
  ASSERT_TRUE(device_->copy_out(host.data(), host.data(), 0));
  EXPECT_EQ(fake_->calls.count("cuStreamSynchronize"), 0u);
  ASSERT_TRUE(device_->copy_in(host.data(), host.data(), 4));
  ASSERT_TRUE(device_->copy_out(host.data(), host.data(), 4));
  EXPECT_EQ(fake_->calls["cuStreamSynchronize"], 2);
}

TEST_F(FakeDeviceTest, a_sequence_is_recorded_once_and_replayed_for_its_time) {
  const auto kernel = load({.block = 128});
  std::array<std::byte, 4> anywhere{};
  const std::array<Call, 2> calls = {
      Call(KernelCall{.kernel = kernel.get(), .arguments = arguments_, .rows = 2}),
      Call(CopyCall{.to = anywhere.data(), .from = anywhere.data(), .bytes = 4})};
  auto sequence = device_->record(calls);
  ASSERT_TRUE(sequence) << sequence.error().message;
  ASSERT_EQ(fake_->launches.size(), 1u);
  EXPECT_TRUE(fake_->launches[0].while_recording);
  EXPECT_EQ(fake_->calls["cuEventRecordWithFlags"], 2);
  EXPECT_EQ(fake_->calls.count("cuGraphLaunch"), 0u);
  fake_->elapsed_ms = 0.25f;
  const auto time = device_->replay_ns(**sequence);
  ASSERT_TRUE(time) << time.error().message;
  EXPECT_DOUBLE_EQ(*time, 250'000.0);
  EXPECT_EQ(fake_->launches.size(), 1u);
}

TEST_F(FakeDeviceTest, a_recording_that_fails_is_ended_and_leaves_nothing_open) {
  const auto kernel = load({.block = 128});
  const std::array<Call, 1> calls = {
      Call(KernelCall{.kernel = kernel.get(), .arguments = arguments_, .rows = 2})};
  for (const char* failing :
       {"cuEventCreate", "cuStreamBeginCapture", "cuEventRecordWithFlags", "cuLaunchKernelEx",
        "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphUpload"}) {
    fake_->results = {{failing, 1}};
    const int open_before = fake_->open_handles;
    EXPECT_FALSE(device_->record(calls)) << failing;
    EXPECT_EQ(fake_->open_handles, open_before) << failing;
    EXPECT_FALSE(fake_->recording) << failing;
  }
  fake_->results.clear();
}

}  // namespace
}  // namespace normd
