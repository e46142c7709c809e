#include "tuner/device/host/host_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
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

NORMD_KERNEL(geometry, NormArguments, 96) {
  y_of(arguments)[block_index() * 96 + thread_index()] =
      static_cast<float>(grid_blocks() * 10000 + block_index() * 100 + thread_index());
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

// Writes `columns` packs of four floats, from `rows` packs on.
NORMD_KERNEL(fill_shared, NormArguments, 32) {
  const Pack<fp32, 4> pack = {};
  for (long long i = thread_index(); i < arguments.columns; i += 32)
    store_pack<Hint::normal>(shared_memory<fp32>() + 4 * i, pack);
}
NORMD_KERNEL(fill_global, NormArguments, 32) {
  const Pack<fp32, 4> pack = {};
  for (long long i = thread_index(); i < arguments.columns; i += 32)
    store_pack<Hint::normal>(static_cast<fp32*>(arguments.y) + 4 * i, pack);
}

NORMD_KERNEL(add_one, NormArguments, 32) {
  y_of(arguments)[thread_index()] += 1.0f;
}
NORMD_KERNEL(double_it, NormArguments, 32) {
  y_of(arguments)[thread_index()] *= 2.0f;
}

static int grow(int depth) {
  volatile int here[256];
  here[0] = depth;
  return depth > 0 ? grow(depth - 1) + here[0] : 0;
}
NORMD_KERNEL(deep_stack, NormArguments, 32) {
  y_of(arguments)[thread_index()] = static_cast<float>(grow(static_cast<int>(arguments.columns)));
}
)";

constexpr HostSchedule schedules[] = {{.order = ScheduleOrder::ascending},
                                      {.order = ScheduleOrder::descending},
                                      {.order = ScheduleOrder::shuffled, .seed = 7}};

class HostDeviceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { binary_ = new Binary(compiled(kernels)); }
  static void TearDownTestSuite() { delete binary_; }

  // Runs `run` on zeroed y of `outputs` floats.
  static std::vector<float> outputs_of(Device& device, const HostRun& run, std::size_t outputs,
                                       NormArguments arguments = {}) {
    DeviceArray<float> y(device, outputs);
    arguments.y = y.address();
    const auto done = launch_once(device, *binary_, run, arguments);
    EXPECT_TRUE(done) << done.error().message;
    return y.values();
  }

  static inline const Binary* binary_ = nullptr;
};

// The bits of y under each schedule.
std::vector<std::string> block_sum_bits(const Binary& binary, bool with_barrier) {
  std::vector<float> input(512);
  std::iota(input.begin(), input.end(), 1.0f);
  std::vector<std::string> bits;
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    DeviceArray<float> x(*device, std::span<const float>(input));
    DeviceArray<float> y(*device, input.size());
    const auto done = launch_once(
        *device, binary, {.entry = "block_sum", .block = 64, .shared_bytes = 8, .rows = 8},
        {.x = x.address(), .y = y.address(), .rows = 8, .columns = with_barrier ? 1 : 0});
    EXPECT_TRUE(done) << done.error().message;
    const auto values = y.values();
    bits.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return bits;
}

TEST_F(HostDeviceTest, a_missing_barrier_gives_different_bits_under_different_schedules) {
  const auto bits = block_sum_bits(*binary_, false);
  EXPECT_NE(bits[0], bits[1]);
  EXPECT_NE(bits[0], bits[2]);
}

TEST_F(HostDeviceTest, with_the_barrier_all_schedules_give_the_same_bits) {
  const auto bits = block_sum_bits(*binary_, true);
  EXPECT_EQ(bits[0], bits[1]);
  EXPECT_EQ(bits[0], bits[2]);
  float first;
  std::memcpy(&first, bits[0].data(), sizeof first);
  EXPECT_EQ(first, 64 * 65 / 2);
}

TEST_F(HostDeviceTest, the_grid_follows_from_the_rows_and_the_launch) {
  const auto device = host_device();
  // Seven rows, three to a block: three blocks of 96 threads.
  const auto y = outputs_of(
      *device, {.entry = "geometry", .block = 96, .rows = 7, .rows_per_block = 3}, 4 * 96);
  for (int block = 0; block < 3; ++block) {
    for (int thread = 0; thread < 96; ++thread) {
      ASSERT_EQ(y[static_cast<std::size_t>(block * 96 + thread)],
                static_cast<float>(30000 + block * 100 + thread));
    }
  }
  EXPECT_EQ(y[3 * 96], 0.0f);  // no fourth block
}

TEST_F(HostDeviceTest, each_schedule_runs_every_block_once_in_its_own_order) {
  std::vector<std::vector<float>> orders;
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    const HostRun run{.entry = "order_of_blocks", .rows = 12};
    orders.push_back(outputs_of(*device, run, 13));
    EXPECT_EQ(orders.back(), outputs_of(*device, run, 13)) << "a launch repeats itself";
    auto sorted = orders.back();
    std::sort(sorted.begin() + 1, sorted.end());
    for (std::size_t i = 0; i < 12; ++i) ASSERT_EQ(sorted[i + 1], static_cast<float>(i));
  }
  EXPECT_EQ(orders[0][1], 0.0f);
  EXPECT_EQ(orders[1][1], 11.0f);
  EXPECT_NE(orders[2], orders[0]);
  EXPECT_NE(orders[2], orders[1]);
}

TEST_F(HostDeviceTest, shared_memory_starts_as_nan_in_every_block) {
  const auto device = host_device();
  const auto y =
      outputs_of(*device, {.entry = "read_unwritten_shared", .shared_bytes = 128, .rows = 3}, 96);
  for (const float value : y) ASSERT_TRUE(std::isnan(value));
}

TEST_F(HostDeviceTest, a_thread_that_leaves_before_a_barrier_is_a_fault_and_not_a_hang) {
  for (const HostSchedule& schedule : schedules) {
    const auto device = host_device(schedule);
    DeviceArray<float> y(*device, 4);
    const auto done =
        launch_once(*device, *binary_, {.entry = "leave_before_barrier", .block = 64, .rows = 4},
                    {.y = y.address()});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::internal);
    EXPECT_EQ(
        done.error().message,
        "fault: leave_before_barrier, block 2: of 64 threads 63 wait at a block barrier, 0 in "
        "a shuffle, and 1 have ended, thread 37 the last of them");
    // The device goes on as if nothing had been.
    const auto after = outputs_of(*device, {.entry = "geometry", .block = 96}, 96);
    EXPECT_EQ(after[95], 10095.0f);
  }
}

TEST_F(HostDeviceTest, a_thread_that_misses_a_shuffle_is_a_fault) {
  const auto device = host_device();
  DeviceArray<float> y(*device, 1);
  const auto done = launch_once(*device, *binary_, {.entry = "leave_before_shuffle", .block = 64},
                                {.y = y.address()});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("31 in a shuffle, and 33 have ended"), std::string::npos)
      << done.error().message;
}

TEST_F(HostDeviceTest, threads_that_wait_for_each_other_are_a_fault) {
  const auto device = host_device();
  DeviceArray<float> y(*device, 1);
  const auto done = launch_once(
      *device, *binary_, {.entry = "barrier_against_shuffle", .block = 64}, {.y = y.address()});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("32 wait at a block barrier, 32 in a shuffle, and 0 have"),
            std::string::npos)
      << done.error().message;
}

TEST_F(HostDeviceTest, no_rows_launch_nothing) {
  const auto device = host_device();
  const auto y = outputs_of(*device, {.entry = "geometry", .block = 96, .rows = 0}, 96);
  EXPECT_EQ(y, std::vector<float>(96, 0.0f));
}

TEST_F(HostDeviceTest, a_wrong_digest_is_refused) {
  const auto device = host_device();
  Binary damaged = *binary_;
  damaged.bytes[damaged.bytes.size() / 2] ^= 1;
  const auto kernel = device->load(damaged, launch_of({.entry = "geometry"}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::data_loss);
}

TEST_F(HostDeviceTest, bytes_that_are_no_shared_object_are_refused) {
  const auto device = host_device();
  Binary rubbish{.format = BinaryFormat::host_object, .bytes = "not an object", .entry = "kernel"};
  rubbish.digest = sha256_hex(rubbish.bytes);
  const auto kernel = device->load(rubbish, launch_of({}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(kernel.error().message.find("file too short"), std::string::npos)
      << kernel.error().message;
}

TEST_F(HostDeviceTest, a_missing_entry_is_named) {
  const auto device = host_device();
  const auto kernel = device->load(*binary_, launch_of({.entry = "no_such_kernel"}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(kernel.error().message.find("no_such_kernel"), std::string::npos);
}

TEST_F(HostDeviceTest, a_cubin_and_a_cluster_are_refused) {
  const auto device = host_device();
  Binary cubin = *binary_;
  cubin.format = BinaryFormat::cubin;
  EXPECT_EQ(device->load(cubin, launch_of({})).error().code, ErrorCode::failed_precondition);
  Launch launch = launch_of({.entry = "geometry"});
  launch.cluster = 2;
  EXPECT_EQ(device->load(*binary_, launch).error().code, ErrorCode::failed_precondition);
  launch.cluster = 1;
  launch.block = 48;
  EXPECT_EQ(device->load(*binary_, launch).error().code, ErrorCode::failed_precondition);
}

// Equal bytes loaded twice must not share their state, nor may a later object be taken for one that
// was loaded from the same descriptor number.
TEST_F(HostDeviceTest, kernels_loaded_side_by_side_are_their_own) {
  const auto device = host_device();
  const Binary other = compiled(
      "NORMD_KERNEL(geometry, NormArguments, 32) { static_cast<float*>(arguments.y)[0] = 5.0f; }");
  const auto first = device->load(*binary_, launch_of({.entry = "geometry"}));
  const auto second = device->load(other, launch_of({.entry = "geometry"}));
  const auto third = device->load(*binary_, launch_of({.entry = "geometry"}));
  ASSERT_TRUE(first && second && third);
  for (const auto& [kernel, expected] :
       {std::pair{first->get(), 10000.0f}, {second->get(), 5.0f}, {third->get(), 10000.0f}}) {
    DeviceArray<float> y(*device, 32);
    const NormArguments arguments{.y = y.address()};
    ASSERT_TRUE(device->launch({kernel, bytes_of(arguments), 1}));
    EXPECT_EQ(y.values()[0], expected);
  }
}

TEST_F(HostDeviceTest, memory_is_counted_and_its_end_is_an_answer) {
  const auto device = host_device();
  const auto all = static_cast<std::size_t>(device->spec().memory_bytes);
  const auto one = device->allocate(100);
  ASSERT_TRUE(one);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*one)->address()) % 256, 0u);
  const auto too_much = device->allocate(all);
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, ErrorCode::resource_exhausted);
  EXPECT_FALSE(device->allocate(SIZE_MAX));
  EXPECT_TRUE(device->allocate(0));
  EXPECT_TRUE(device->allocate_staging(100));
}

TEST_F(HostDeviceTest, freed_memory_can_be_had_again) {
  const auto device = host_device();
  const auto most = static_cast<std::size_t>(device->spec().memory_bytes) * 3 / 4;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(device->allocate(most));
}

TEST_F(HostDeviceTest, a_launch_over_the_limits_of_its_chip_is_refused) {
  const auto device = open_host_device("host:sm_75");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->spec().shared_bytes_per_block_max, 65536);
  const auto shared =
      launch_once(**device, *binary_, {.entry = "fill_shared", .shared_bytes = 65537}, {});
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, ErrorCode::failed_precondition);
  const auto block = launch_once(**device, *binary_, {.entry = "fill_shared", .block = 1056}, {});
  ASSERT_FALSE(block);
  EXPECT_NE(block.error().message.find("1056 threads per block"), std::string::npos)
      << block.error().message;
}

TEST_F(HostDeviceTest, it_says_who_it_is_and_which_names_there_are) {
  const auto device = host_device();
  EXPECT_EQ(device->identity().name, "host");
  EXPECT_EQ(device->identity().uuid, "host");
  EXPECT_EQ(device->identity().driver, "none");
  EXPECT_EQ(device->spec(), host_device_spec());
  const auto unknown = open_host_device("host:sm_12");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(unknown.error().message.find("host:sm_90"), std::string::npos);
}

TEST_F(HostDeviceTest, resident_blocks_follow_from_the_limits) {
  const auto device = open_host_device("host:sm_90");
  const auto blocks = [&](int block, int shared_bytes) {
    const auto kernel = (*device)->load(
        *binary_, launch_of({.entry = "geometry", .block = block, .shared_bytes = shared_bytes}));
    return (*kernel)->resources().blocks_per_sm;
  };
  EXPECT_EQ(blocks(256, 0), 8);
  EXPECT_EQ(blocks(32, 0), 32);
  EXPECT_EQ(blocks(32, 100000), 2);
}

TEST_F(HostDeviceTest, entries_run_one_after_the_other) {
  const auto device = host_device();
  Launch launch = launch_of({});
  launch.entries = {"add_one", "double_it", "add_one"};
  const auto kernel = device->load(*binary_, launch);
  ASSERT_TRUE(kernel) << kernel.error().message;
  DeviceArray<float> y(*device, 32);
  const NormArguments arguments{.y = y.address()};
  ASSERT_TRUE(device->launch({kernel->get(), bytes_of(arguments), 1}));
  EXPECT_EQ(y.values(), std::vector<float>(32, 3.0f));
}

TEST_F(HostDeviceTest, a_sequence_keeps_its_arguments_and_runs_only_when_replayed) {
  const auto device = host_device();
  const auto kernel = device->load(*binary_, launch_of({.entry = "add_one"}));
  ASSERT_TRUE(kernel);
  DeviceArray<float> y(*device, 32);
  DeviceArray<float> copy(*device, 32);
  NormArguments arguments{.y = y.address()};
  const Call calls[] = {KernelCall{kernel->get(), bytes_of(arguments), 1},
                        CopyCall{copy.address(), y.address(), 128}};
  const auto sequence = device->record(calls);
  ASSERT_TRUE(sequence);
  arguments.y = nullptr;  // was copied
  EXPECT_EQ(y.values()[0], 0.0f);
  EXPECT_EQ(copy.values()[0], 0.0f);
  for (int replay = 1; replay <= 2; ++replay) {
    const auto nanoseconds = device->replay_ns(**sequence);
    ASSERT_TRUE(nanoseconds);
    EXPECT_GT(*nanoseconds, 0.0);
    EXPECT_EQ(copy.values()[31], static_cast<float>(replay));
  }
}

TEST_F(HostDeviceTest, a_kernel_may_use_half_its_stack) {
  const auto device = host_device();
  const auto y = outputs_of(*device, {.entry = "deep_stack"}, 32, {.columns = 20});
  EXPECT_EQ(y[0], 210.0f);
}

using HostDeviceDeathTest = HostDeviceTest;

TEST_F(HostDeviceDeathTest, running_off_the_stack_is_a_crash_and_not_a_silent_write) {
  const auto device = host_device();
  EXPECT_DEATH(outputs_of(*device, {.entry = "deep_stack"}, 32, {.columns = 100}), "");
}

TEST_F(HostDeviceDeathTest, one_vector_beyond_shared_memory_is_caught_by_the_address_sanitizer) {
#if !defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "only a build with the address sanitizer sees it";
#endif
  const auto device = host_device();
  const HostRun run{.entry = "fill_shared", .shared_bytes = 64 * 16};
  outputs_of(*device, run, 1, {.columns = 64});
  EXPECT_DEATH(outputs_of(*device, run, 1, {.columns = 65}), "heap-buffer-overflow");
}

TEST_F(HostDeviceDeathTest, one_vector_beyond_a_buffer_is_caught_by_the_address_sanitizer) {
#if !defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "only a build with the address sanitizer sees it";
#endif
  const auto device = host_device();
  const HostRun run{.entry = "fill_global"};
  outputs_of(*device, run, 64 * 4, {.columns = 64});
  EXPECT_DEATH(outputs_of(*device, run, 64 * 4, {.columns = 65}), "heap-buffer-overflow");
}

}  // namespace
}  // namespace normd
