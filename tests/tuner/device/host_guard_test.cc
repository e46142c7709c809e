// What guards memory on the host device: the pages below each stack, and the address sanitizer.
#include <gtest/gtest.h>

#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

constexpr std::string_view kernels = R"(
// Both write `columns` packs of four floats.
NORMD_KERNEL(fill_shared, NormArguments, 32) {
  const Pack<fp32, 4> pack = {};
  for (long long i = thread_index(); i < arguments.columns; i += 32)
    store_pack(shared_memory<fp32>() + 4 * i, pack);
}
NORMD_KERNEL(fill_global, NormArguments, 32) {
  const Pack<fp32, 4> pack = {};
  for (long long i = thread_index(); i < arguments.columns; i += 32)
    store_pack(static_cast<fp32*>(arguments.y) + 4 * i, pack);
}

static int grow(int depth) {
  volatile int here[256];
  here[0] = depth;
  return depth > 0 ? grow(depth - 1) + here[0] : 0;
}
NORMD_KERNEL(deep_stack, NormArguments, 32) {
  static_cast<float*>(arguments.y)[thread_index()] =
      static_cast<float>(grow(static_cast<int>(arguments.columns)));
}
)";

CompiledOnce binary(kernels);

TEST(HostGuardTest, a_kernel_may_use_half_its_stack) {
  const auto device = host_device();
  const auto y = outputs_of(*device, *binary, {.entry = "deep_stack"}, 32, {.columns = 20});
  EXPECT_EQ(y[0], 210.0f);
}

TEST(HostGuardDeathTest, running_off_the_stack_is_a_crash_and_not_a_silent_write) {
  const auto device = host_device();
  EXPECT_DEATH(outputs_of(*device, *binary, {.entry = "deep_stack"}, 32, {.columns = 100}), "");
}

TEST(HostGuardDeathTest, one_vector_beyond_shared_memory_is_caught_by_the_address_sanitizer) {
#if !defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "only a build with the address sanitizer sees it";
#endif
  const auto device = host_device();
  const HostRun run{.entry = "fill_shared", .shared_bytes = 64 * 16};
  outputs_of(*device, *binary, run, 1, {.columns = 64});
  EXPECT_DEATH(outputs_of(*device, *binary, run, 1, {.columns = 65}), "heap-buffer-overflow");
}

TEST(HostGuardDeathTest, one_vector_beyond_a_buffer_is_caught_by_the_address_sanitizer) {
#if !defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "only a build with the address sanitizer sees it";
#endif
  const auto device = host_device();
  const HostRun run{.entry = "fill_global"};
  outputs_of(*device, *binary, run, 64 * 4, {.columns = 64});
  EXPECT_DEATH(outputs_of(*device, *binary, run, 64 * 4, {.columns = 65}), "heap-buffer-overflow");
}

}  // namespace
}  // namespace normd
