// What the CUDA device refuses on a real GPU, and how it reports that the GPU is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/tuner/device/cuda/gpu_test.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

class CudaRefusalTest : public GpuTest {};

TEST_F(CudaRefusalTest, a_wrong_digest_is_refused) {
  auto binary = compile_gpu_kernel("add_one", device_->spec().architecture());
  ASSERT_TRUE(binary) << binary.error().message;
  binary->bytes[binary->bytes.size() / 2] ^= 1;
  const auto kernel = device_->load(*binary, {.block = 64});
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::data_loss);
}

TEST_F(CudaRefusalTest, an_image_that_is_none_and_an_entry_that_is_not_there_are_refused) {
  auto binary = compile_gpu_kernel("add_one", device_->spec().architecture());
  ASSERT_TRUE(binary) << binary.error().message;
  const auto nameless = device_->load(*binary, {.entries = {"no_such_kernel"}, .block = 64});
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(nameless.error().message, HasSubstr("no_such_kernel"));
  binary->bytes = "no image";
  binary->digest = sha256_hex(binary->bytes);
  const auto kernel = device_->load(*binary, {.block = 64});
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
}

TEST_F(CudaRefusalTest, ptx_runs_or_is_refused_with_both_versions) {
  const auto binary = compile_gpu_kernel("add_one", "compute_75");
  ASSERT_TRUE(binary) << binary.error().message;
  const auto kernel = device_->load(*binary, {.block = 64});
  if (!kernel) {  // the compiler is newer than the driver
    EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
    EXPECT_THAT(kernel.error().message,
                AllOf(HasSubstr(binary->compiler), HasSubstr(device_->identity().driver)));
    return;
  }
  const Floats floats(*device_, std::vector<float>(64, 1.0f));
  const TestArguments arguments{.x = floats.address(), .count = 64};
  ASSERT_TRUE(device_->launch({kernel->get(), bytes_of(arguments), 1}));
  EXPECT_THAT(floats.read(), Each(2.0f));
}

TEST_F(CudaRefusalTest, more_memory_than_there_is_is_resource_exhausted) {
  const auto memory = device_->allocate(static_cast<std::size_t>(device_->spec().memory_bytes) * 2);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::resource_exhausted);
}

TEST_F(CudaRefusalTest, all_of_a_blocks_shared_memory_can_be_used_and_no_more) {
  const int most = device_->spec().shared_bytes_per_block_max;
  const auto kernel = load(*device_, "through_shared", {.block = 64, .shared_bytes = most});
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->resources().blocks_per_sm, 1);
  const Floats floats(*device_, std::vector<float>(2, 0.0f));
  const TestArguments arguments{.x = floats.address(), .count = most};
  ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 2}));
  EXPECT_THAT(floats.read(), Each(42.0f));
  const auto binary = compile_gpu_kernel("through_shared", device_->spec().architecture());
  ASSERT_TRUE(binary);
  const auto over = device_->load(*binary, {.block = 64, .shared_bytes = most + 4});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::failed_precondition);
}

TEST_F(CudaRefusalTest, a_cooperative_launch_that_is_resident_runs_and_a_larger_one_is_refused) {
  const auto kernel = load(*device_, "add_one", {.block = 64, .cooperative = true});
  ASSERT_NE(kernel, nullptr);
  const Floats floats(*device_, std::vector<float>(64, 1.0f));
  const TestArguments arguments{.x = floats.address(), .count = 64};
  ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 1}));
  EXPECT_THAT(floats.read(), Each(2.0f));
  const std::int64_t resident =
      std::int64_t{kernel->resources().blocks_per_sm} * device_->spec().sm_count;
  const auto over = device_->launch({kernel.get(), bytes_of(arguments), resident + 1});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::failed_precondition);
}

// In a process of its own, because its context is lost. Exits 0 when the loss is reported as such,
// again and again, and closing everything afterwards does no harm.
void lose_the_context(const char* entry) {
  {
    auto device = open_device("0");
    if (!device) std::exit(2);
    const auto kernel = load(**device, entry, {.block = 32});
    const auto memory = (*device)->allocate(128);
    if (!kernel || !memory) std::exit(3);
    const TestArguments arguments{.x = static_cast<float*>((*memory)->address())};
    if (!(*device)->launch({kernel.get(), bytes_of(arguments), 1})) std::exit(4);
    const auto first = (*device)->synchronize();
    const auto second = (*device)->allocate(128);
    if (first || first.error().code != ErrorCode::unavailable) std::exit(5);
    if (second || second.error().code != ErrorCode::unavailable) std::exit(6);
    std::fprintf(stderr, "%s\n", first.error().message.c_str());
  }
  std::exit(0);
}

TEST(lost_cuda_device, an_illegal_access_is_unavailable_in_the_drivers_words) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_context("write_nowhere"), testing::ExitedWithCode(0),
              AnyOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"), HasSubstr("CUDA_ERROR_INVALID")));
}

TEST(lost_cuda_device, a_trap_is_unavailable_in_the_drivers_words) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_context("trap"), testing::ExitedWithCode(0), HasSubstr("CUDA_ERROR_"));
}

}  // namespace
}  // namespace normd
