// The CUDA device on a real GPU: what only hardware and its driver can show. Exit code 77 says that
// the machine has none, or no NVRTC to compile the kernels with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "tests/tuner/device/cuda/gpu_test.h"

namespace normd {
namespace {

using testing::Each;

class CudaDeviceTest : public GpuTest {};

TEST_F(CudaDeviceTest, it_is_listed_with_the_identity_and_limits_that_it_opens_with) {
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus) << gpus.error().message;
  EXPECT_EQ(gpus->front().spec, device_->spec());
  EXPECT_EQ(gpus->front().identity.uuid, device_->identity().uuid);
  EXPECT_THAT(device_->identity().driver, testing::ContainsRegex("^[0-9]+\\.[0-9]+"));
  const DeviceSpec& spec = device_->spec();
  EXPECT_GE(spec.sm_count, 1);
  EXPECT_GT(spec.l2_bytes, 0);
  EXPECT_GT(spec.memory_bytes_per_ns(), 10.0);
  EXPECT_LE(spec.measure_bytes, spec.memory_bytes / 16);
  EXPECT_GE(spec.shared_bytes_per_block_max, 48 * 1024);
}

TEST_F(CudaDeviceTest, its_uuid_opens_it_too) {
  const auto same = open_device(device_->identity().uuid);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ((*same)->identity().ordinal, device_->identity().ordinal);
}

TEST_F(CudaDeviceTest, bytes_go_in_within_and_out_again) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{255}, (std::size_t{1} << 20) + 3}) {
    std::vector<unsigned char> sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<unsigned char>(i * 7 + bytes);
    const auto one = device_->allocate(bytes);
    const auto other = device_->allocate(bytes);
    ASSERT_TRUE(one && other);
    ASSERT_TRUE(device_->copy_in((*one)->address(), sent.data(), bytes));
    ASSERT_TRUE(device_->fill((*other)->address(), 0xab, bytes));
    std::vector<unsigned char> got(bytes);
    ASSERT_TRUE(device_->copy_out(got.data(), (*other)->address(), bytes));
    EXPECT_THAT(got, Each(0xab));
    ASSERT_TRUE(device_->copy_within((*other)->address(), (*one)->address(), bytes));
    ASSERT_TRUE(device_->copy_out(got.data(), (*other)->address(), bytes));
    EXPECT_EQ(got, sent);
  }
}

// As the gate asks for it: rows of fp32 that lie 2^32 elements apart.
TEST_F(CudaDeviceTest, sparse_memory_holds_bytes_in_stretches_that_lie_far_apart) {
  constexpr std::size_t distance = (std::size_t{1} << 34) + 16;
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < 9; ++i) stretches.push_back({64 + i * distance, 100'000});
  const auto memory = device_->allocate_sparse(64 + 8 * distance + 100'000, stretches);
  if (!memory && memory.error().code == ErrorCode::unimplemented) {
    GTEST_SKIP() << memory.error().message;
  }
  ASSERT_TRUE(memory) << memory.error().message;
  auto* begin = static_cast<unsigned char*>((*memory)->address());
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const auto byte = static_cast<unsigned char>(i + 1);
    ASSERT_TRUE(device_->fill(begin + stretches[i].offset, byte, stretches[i].bytes));
  }
  std::vector<unsigned char> got(100'000);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    ASSERT_TRUE(device_->copy_out(got.data(), begin + stretches[i].offset, got.size()));
    EXPECT_THAT(got, Each(i + 1));
  }
}

TEST_F(CudaDeviceTest, staging_memory_is_the_hosts_to_touch) {
  const auto staging = device_->allocate_staging(4096);
  const auto memory = device_->allocate(4096);
  ASSERT_TRUE(staging && memory);
  auto* bytes = static_cast<unsigned char*>((*staging)->address());
  for (int i = 0; i < 4096; ++i) bytes[i] = static_cast<unsigned char>(i);
  ASSERT_TRUE(device_->copy_in((*memory)->address(), bytes, 4096));
  for (int i = 0; i < 4096; ++i) bytes[i] = 0;  // copy_in is done with it
  ASSERT_TRUE(device_->copy_out(bytes, (*memory)->address(), 4096));
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(bytes[i], static_cast<unsigned char>(i));
}

TEST_F(CudaDeviceTest, a_launch_covers_exactly_the_rows_it_was_given) {
  const auto kernel = load(*device_, "add_one", {.entries = {"add_one"}, .block = 64});
  ASSERT_NE(kernel, nullptr);
  const Floats floats(*device_, std::vector<float>(64 * 5, 1.0f));
  const TestArguments arguments{.x = floats.address(), .count = 64 * 5};
  ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 3}));
  ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 0}));
  const std::vector<float> got = floats.read();
  for (int i = 0; i < 64 * 5; ++i) ASSERT_EQ(got[i], i < 64 * 3 ? 2.0f : 1.0f) << i;
}

TEST_F(CudaDeviceTest, resources_are_as_the_driver_counts_them) {
  const auto kernel = load(*device_, "add_one", {.block = 256});
  ASSERT_NE(kernel, nullptr);
  EXPECT_GT(kernel->resources().registers, 0);
  EXPECT_EQ(kernel->resources().local_bytes, 0);
  EXPECT_EQ(kernel->resources().blocks_per_sm, device_->spec().threads_per_sm_max / 256);
}

TEST_F(CudaDeviceTest, recorded_calls_run_in_order_at_replay_with_their_arguments_of_then) {
  const auto kernel = load(*device_, "add_one", {.block = 64});
  ASSERT_NE(kernel, nullptr);
  const Floats from(*device_, std::vector<float>(64, 1.0f));
  const Floats to(*device_, std::vector<float>(64, 0.0f));
  TestArguments arguments{.x = from.address(), .count = 64};
  const KernelCall add{kernel.get(), bytes_of(arguments), 1};
  const std::vector<Call> calls = {
      add, CopyCall{.to = to.address(), .from = from.address(), .bytes = 256}, add};
  auto sequence = device_->record(calls);
  ASSERT_TRUE(sequence) << sequence.error().message;
  arguments = {};
  EXPECT_THAT(from.read(), Each(1.0f));
  for (const float expected : {2.0f, 4.0f}) {
    const auto time = device_->replay_ns(**sequence);
    ASSERT_TRUE(time) << time.error().message;
    EXPECT_GT(*time, 0.0);
    EXPECT_THAT(to.read(), Each(expected));
    EXPECT_THAT(from.read(), Each(expected + 1));
  }
}

TEST_F(CudaDeviceTest, the_time_of_a_recording_is_that_of_all_its_launches) {
  const auto kernel = load(*device_, "spin", {.block = 32});
  ASSERT_NE(kernel, nullptr);
  const TestArguments arguments{.count = 200'000};  // nanoseconds each
  const KernelCall spin{kernel.get(), bytes_of(arguments), 1};
  record_and_replay_ns({spin});  // the first launch loads the kernel
  const double one_ns = record_and_replay_ns({spin});
  const double ten_ns = record_and_replay_ns(std::vector<Call>(10, Call(spin)));
  // The timer behind spin() ticks once a microsecond on some GPUs.
  EXPECT_GT(one_ns, 195'000.0);
  EXPECT_LT(one_ns, 400'000.0);
  EXPECT_GT(ten_ns, 1'950'000.0);
  EXPECT_LT(ten_ns, 4'000'000.0);
}

TEST_F(CudaDeviceTest,
       its_condition_after_work_has_the_clocks_of_a_busy_card_and_is_cheap_to_read) {
  if (device_->identity().mig != "none" || device_->identity().power_limit_w == 0) {
    GTEST_SKIP() << "no management library, or a slice of which it tells nothing";
  }
  const auto kernel = load(*device_, "spin", {.block = 32});
  ASSERT_NE(kernel, nullptr);
  const TestArguments arguments{.count = 100'000'000};  // nanoseconds: long enough to boost
  ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 1}));
  ASSERT_TRUE(device_->synchronize());
  const DeviceCondition busy = device_->condition();
  EXPECT_GT(busy.sm_clock_mhz, device_->spec().sm_clock_mhz / 3);
  EXPECT_LE(busy.sm_clock_mhz, device_->spec().sm_clock_mhz * 1.1);
  EXPECT_GT(busy.memory_clock_mhz, 0);
  EXPECT_EQ(busy.held_back, "");
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) device_->condition();
  const std::chrono::duration<double, std::milli> each =
      (std::chrono::steady_clock::now() - begun) / 20;
  std::printf("one reading of the condition takes %.3f ms\n", each.count());
  EXPECT_LT(each.count(), 10);
}

TEST_F(CudaDeviceTest, an_empty_recording_takes_next_to_no_time) {
  EXPECT_LT(record_and_replay_ns({}), 100'000.0);
}

TEST_F(CudaDeviceTest, clusters_are_launched_at_their_size_directly_and_recorded) {
  if (device_->spec().capability < 90) GTEST_SKIP() << "clusters begin with sm_90";
  for (const int cluster : {2, 8}) {
    const auto kernel = load(*device_, "cluster_blocks",
                             {.block = 32, .cluster = cluster, .blocks_per_row = cluster});
    ASSERT_NE(kernel, nullptr);
    const auto blocks = static_cast<std::size_t>(cluster) * 3;
    const auto expected = static_cast<float>(cluster);
    const Floats direct(*device_, std::vector<float>(blocks, 0.0f));
    const Floats recorded(*device_, std::vector<float>(blocks, 0.0f));
    const TestArguments arguments{.x = direct.address()};
    ASSERT_TRUE(device_->launch({kernel.get(), bytes_of(arguments), 3}));
    EXPECT_THAT(direct.read(), Each(expected));
    const TestArguments others{.x = recorded.address()};
    EXPECT_GT(record_and_replay_ns({KernelCall{kernel.get(), bytes_of(others), 3}}), 0.0);
    EXPECT_THAT(recorded.read(), Each(expected));
  }
}

TEST_F(CudaDeviceTest, two_gpus_in_one_thread_do_not_mix) {
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus);
  if (gpus->size() < 2) GTEST_SKIP() << "there is one GPU";
  const auto second = open_device("1");
  ASSERT_TRUE(second) << second.error().message;
  for (Device* device : {device_.get(), second->get(), device_.get()}) {
    const auto kernel = load(*device, "add_one", {.block = 64});
    ASSERT_NE(kernel, nullptr);
    const Floats floats(*device, std::vector<float>(64, 1.0f));
    const TestArguments arguments{.x = floats.address(), .count = 64};
    ASSERT_TRUE(device->launch({kernel.get(), bytes_of(arguments), 1}));
    EXPECT_THAT(floats.read(), Each(2.0f));
  }
}

}  // namespace
}  // namespace normd

int main(int count, char** arguments) {
  testing::InitGoogleMock(&count, arguments);
  const auto gpus = normd::list_gpus();
  const auto compiler = normd::compiler_version("sm_90");
  if (!gpus || !compiler) {
    const normd::Error& error = !gpus ? gpus.error() : compiler.error();
    std::fprintf(stderr, "left out: %s\n", error.message.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
