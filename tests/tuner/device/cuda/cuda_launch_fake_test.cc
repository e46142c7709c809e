// How a CudaDevice launches kernels, over the stand-in for the driver.
#include "tests/tuner/device/cuda/fake_device_test.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(FakeDeviceTest, the_grid_follows_from_the_launch_and_the_rows) {
  const Launch launch{.block = 256, .shared_bytes = 64, .rows_per_block = 4};
  const auto kernel = load(launch);
  for (const std::int64_t rows : {1, 4, 5, 1000}) {
    ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = rows}));
    EXPECT_EQ(fake_->launches.back().grid, grid_blocks(launch, rows)) << rows;
  }
  EXPECT_EQ(fake_->launches.back().block, 256u);
  EXPECT_EQ(fake_->launches.back().shared_bytes, 64u);
  EXPECT_EQ(fake_->launches.back().cluster, 1u);
  EXPECT_FALSE(fake_->launches.back().cooperative);
}

TEST_F(FakeDeviceTest, a_grid_that_would_leave_rows_out_is_not_launched) {
  const auto kernel = load({.block = 256, .rows_per_block = 4, .strides = false, .blocks_max = 3});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 12}));
  const auto left_out =
      device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 13});
  ASSERT_FALSE(left_out);
  EXPECT_EQ(left_out.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(left_out.error().field, "rows");
  EXPECT_EQ(fake_->launches.size(), 1u);
}

TEST_F(FakeDeviceTest, no_rows_launch_nothing) {
  const auto kernel = load({.block = 256});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 0}));
  EXPECT_TRUE(fake_->launches.empty());
}

TEST_F(FakeDeviceTest, clusters_and_cooperation_reach_the_driver) {
  const auto kernel =
      load({.block = 128, .cluster = 16, .cooperative = true, .blocks_per_row = 16});
  EXPECT_TRUE(fake_->non_portable_cluster_allowed);
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 3}));
  EXPECT_EQ(fake_->launches.back().grid, 48u);
  EXPECT_EQ(fake_->launches.back().cluster, 16u);
  EXPECT_TRUE(fake_->launches.back().cooperative);
}

TEST_F(FakeDeviceTest, a_programmatic_launch_is_one_where_the_driver_can_record_it) {
  auto kernel = load({.block = 128, .programmatic = true});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 3}));
  EXPECT_TRUE(fake_->launches.back().programmatic);
  kernel = load({.block = 128});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 3}));
  EXPECT_FALSE(fake_->launches.back().programmatic);
}

TEST_F(FakeDeviceTest, what_was_compiled_for_an_older_device_is_launched_one_after_the_other) {
  // No wait for the stream is in it.
  Binary binary = some_binary();
  binary.target = "compute_80";
  const auto kernel = device_->load(binary, {.block = 128, .programmatic = true});
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_TRUE(device_->launch({.kernel = kernel->get(), .arguments = arguments_, .rows = 3}));
  EXPECT_FALSE(fake_->launches.back().programmatic);
}

TEST_F(FakeDeviceTest, an_older_driver_launches_one_after_the_other) {
  fake_->version = 12020;
  auto older = open_cuda_device(
      "0", {.driver = fake_driver_path(), .management = "/no/such/libnvidia-ml.so.1"});
  ASSERT_TRUE(older) << older.error().message;
  device_ = std::move(*older);
  const auto kernel = load({.block = 128, .programmatic = true});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 3}));
  EXPECT_FALSE(fake_->launches.back().programmatic);
}

TEST_F(FakeDeviceTest, a_resident_launch_has_no_more_blocks_than_the_device_holds) {
  fake_->occupancy_clusters = 5;
  auto kernel = load({.block = 128, .cluster = 4, .blocks_per_row = 4, .resident = true});
  for (const auto& [rows, blocks] : {std::pair{3, 12u}, {5, 20u}, {1000, 20u}}) {
    ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = rows}));
    EXPECT_EQ(fake_->launches.back().grid, blocks) << rows;
  }
  kernel = load({.block = 128, .resident = true});
  const std::int64_t held =
      std::int64_t{kernel->resources().blocks_per_sm} * device_->spec().sm_count;
  ASSERT_TRUE(
      device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 100 * held}));
  EXPECT_EQ(fake_->launches.back().grid, held);
  kernel = load({.block = 128, .cluster = 4, .blocks_per_row = 4});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 1000}));
  EXPECT_EQ(fake_->launches.back().grid, 4000u);
}

TEST_F(FakeDeviceTest, several_entries_are_launched_one_after_the_other) {
  const auto kernel = load({.entries = {"first", "second"}, .block = 128});
  ASSERT_TRUE(device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 1}));
  EXPECT_EQ(fake_->launches.size(), 2u);
}

TEST_F(FakeDeviceTest, an_argument_of_another_size_is_refused) {
  fake_->argument_bytes = 96;
  const auto kernel = load({.block = 128});
  const auto launched =
      device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 1});
  ASSERT_FALSE(launched);
  EXPECT_THAT(launched.error().message, AllOf(HasSubstr("96 bytes"), HasSubstr("8")));
  EXPECT_TRUE(fake_->launches.empty());
}

TEST_F(FakeDeviceTest, a_refused_launch_names_the_kernel_the_rows_and_the_launch) {
  const auto kernel = load({.block = 128});
  fake_->results["cuLaunchKernelEx"] = 701;
  const auto launched =
      device_->launch({.kernel = kernel.get(), .arguments = arguments_, .rows = 7});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(launched.error().message,
              AllOf(HasSubstr("some_kernel"), HasSubstr("7 rows"), HasSubstr("block=128")));
}

}  // namespace
}  // namespace normd
