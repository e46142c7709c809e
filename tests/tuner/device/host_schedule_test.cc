// The three schedules of the host device, and the faults that it reports rather than hang.
#include "tuner/device/host/host_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

constexpr std::string_view kernels = R"(
static float* y_of(const NormArguments& arguments) { return static_cast<float*>(arguments.y); }

// The sum of 64 values by two warps. `columns` is 0 for the kernel that lacks its barrier.
NORMD_KERNEL(block_sum, NormArguments, 64) {
  float* shared = shared_memory<float>();
  const float* x = static_cast<const float*>(arguments.x) + block_index() * 64;
  const float sum = lanes_sum<32>(x[thread_index()]);
  if (thread_index() % 32 == 0) shared[thread_index() / 32] = sum;
  if (arguments.columns > 0) block_barrier();
  y_of(arguments)[block_index() * 64 + thread_index()] = shared[0] + shared[1];
}

NORMD_KERNEL(order_of_blocks, NormArguments, 32) {
  if (thread_index() != 0) return;
  float* next = y_of(arguments);  // the first one counts
  next[1 + static_cast<int>(next[0])] = static_cast<float>(block_index());
  next[0] += 1.0f;
}

NORMD_KERNEL(read_unwritten_shared, NormArguments, 32) {
  y_of(arguments)[block_index() * 32 + thread_index()] = shared_memory<float>()[thread_index()];
  shared_memory<float>()[thread_index()] = 1.0f;  // must not be there for the next block
}

NORMD_KERNEL(leave_before_barrier, NormArguments, 64) {
  if (thread_index() == 37 && block_index() == 2) return;
  block_barrier();
  y_of(arguments)[block_index()] = 1.0f;
}

NORMD_KERNEL(leave_before_shuffle, NormArguments, 64) {
  if (thread_index() == 5) return;
  y_of(arguments)[0] = shuffle_xor(1.0f, 1);
}

NORMD_KERNEL(barrier_against_shuffle, NormArguments, 64) {
  if (thread_index() % 2 == 0) block_barrier();
  else y_of(arguments)[0] = shuffle_xor(1.0f, 1);
}
)";

CompiledOnce binary(kernels);

constexpr HostSchedule schedules[] = {{.order = ScheduleOrder::ascending},
                                      {.order = ScheduleOrder::descending},
                                      {.order = ScheduleOrder::shuffled, .seed = 7}};

// The bits of y under each schedule.
std::vector<std::string> block_sum_bits(bool with_barrier) {
  std::vector<float> input(512);
  std::iota(input.begin(), input.end(), 1.0f);
  std::vector<std::string> bits;
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    DeviceArray<float> x(*device, std::span<const float>(input));
    DeviceArray<float> y(*device, input.size());
    const auto done = launch_once(
        *device, *binary, {.entry = "block_sum", .block = 64, .shared_bytes = 8, .rows = 8},
        {.x = x.address(), .y = y.address(), .rows = 8, .columns = with_barrier ? 1 : 0});
    EXPECT_TRUE(done) << done.error().message;
    const auto values = y.values();
    bits.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return bits;
}

TEST(HostScheduleTest, a_missing_barrier_gives_different_bits_under_different_schedules) {
  const auto bits = block_sum_bits(false);
  EXPECT_NE(bits[0], bits[1]);
  EXPECT_NE(bits[0], bits[2]);
}

TEST(HostScheduleTest, with_the_barrier_all_schedules_give_the_same_bits) {
  const auto bits = block_sum_bits(true);
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
  float first;
  std::memcpy(&first, bits[0].data(), sizeof first);
  EXPECT_EQ(first, 64 * 65 / 2);
}

TEST(HostScheduleTest, each_schedule_runs_every_block_once_in_its_own_order) {
  std::vector<std::vector<float>> orders;
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    const HostRun run{.entry = "order_of_blocks", .rows = 12};
    orders.push_back(outputs_of(*device, *binary, run, 13));
    EXPECT_EQ(orders.back(), outputs_of(*device, *binary, run, 13)) << "a launch repeats itself";
    auto sorted = orders.back();
    std::sort(sorted.begin() + 1, sorted.end());
    for (std::size_t i = 0; i < 12; ++i) ASSERT_EQ(sorted[i + 1], static_cast<float>(i));
  }
  EXPECT_EQ(orders[0][1], 0.0f);
  EXPECT_EQ(orders[1][1], 11.0f);
  EXPECT_NE(orders[2], orders[0]);
  EXPECT_NE(orders[2], orders[1]);
}

TEST(HostScheduleTest, shared_memory_starts_as_nan_in_every_block) {
  const auto device = host_device();
  const auto y = outputs_of(*device, *binary,
                            {.entry = "read_unwritten_shared", .shared_bytes = 128, .rows = 3}, 96);
  for (const float value : y) ASSERT_TRUE(std::isnan(value));
}

TEST(HostScheduleTest, a_thread_that_leaves_before_a_barrier_is_a_fault_and_not_a_hang) {
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    DeviceArray<float> y(*device, 4);
    const auto done =
        launch_once(*device, *binary, {.entry = "leave_before_barrier", .block = 64, .rows = 4},
                    {.y = y.address()});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::internal);
    EXPECT_EQ(
        done.error().message,
        "fault: leave_before_barrier, block 2: of 64 threads 63 wait at a block barrier, 0 in "
        "a shuffle, and 1 have ended, thread 37 the last of them");
    // The device goes on as if nothing had been.
    const HostRun two_blocks{.entry = "leave_before_barrier", .block = 64, .rows = 2};
    EXPECT_EQ(outputs_of(*device, *binary, two_blocks, 2), std::vector<float>(2, 1.0f));
  }
}

TEST(HostScheduleTest, a_thread_that_misses_a_shuffle_is_a_fault) {
  const auto device = host_device();
  DeviceArray<float> y(*device, 1);
  const auto done = launch_once(*device, *binary, {.entry = "leave_before_shuffle", .block = 64},
                                {.y = y.address()});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("31 in a shuffle, and 33 have ended"), std::string::npos)
      << done.error().message;
}

TEST(HostScheduleTest, threads_that_wait_for_each_other_are_a_fault) {
  const auto device = host_device();
  DeviceArray<float> y(*device, 1);
  const auto done = launch_once(*device, *binary, {.entry = "barrier_against_shuffle", .block = 64},
                                {.y = y.address()});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("32 wait at a block barrier, 32 in a shuffle, and 0 have"),
            std::string::npos)
      << done.error().message;
}

}  // namespace
}  // namespace normd
