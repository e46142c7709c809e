#include "tuner/device/host/host_device.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

constexpr std::string_view kernels = R"(
static float* y_of(const NormArguments& arguments) { return static_cast<float*>(arguments.y); }

NORMD_KERNEL(geometry, NormArguments, 96) {
  y_of(arguments)[block_index() * 96 + thread_index()] =
      static_cast<float>(grid_blocks() * 10000 + block_index() * 100 + thread_index());
}

NORMD_KERNEL(add_one, NormArguments, 32) {
  y_of(arguments)[thread_index()] += 1.0f;
}
NORMD_KERNEL(double_it, NormArguments, 32) {
  y_of(arguments)[thread_index()] *= 2.0f;
}
)";

CompiledOnce binary(kernels);

TEST(HostDeviceTest, the_grid_follows_from_the_rows_and_the_launch) {
  const auto device = host_device();
  // Seven rows, three to a block: three blocks of 96 threads.
  const auto y = outputs_of(
      *device, *binary, {.entry = "geometry", .block = 96, .rows = 7, .rows_per_block = 3}, 4 * 96);
  for (int block = 0; block < 3; ++block) {
    for (int thread = 0; thread < 96; ++thread) {
      ASSERT_EQ(y[static_cast<std::size_t>(block * 96 + thread)],
                static_cast<float>(30000 + block * 100 + thread));
    }
  }
  EXPECT_EQ(y[3 * 96], 0.0f);  // no fourth block
}

TEST(HostDeviceTest, sparse_memory_holds_bytes_in_its_stretches_and_faults_elsewhere) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto device = host_device();
  constexpr std::size_t distance = std::size_t{1} << 34;
  const Stretch stretches[] = {{100, 5000}, {100 + distance, 5000}};
  const auto memory = device->allocate_sparse(distance + 5100, stretches);
  ASSERT_TRUE(memory) << memory.error().message;
  auto* begin = static_cast<unsigned char*>((*memory)->address());
  for (const Stretch& stretch : stretches) {
    unsigned char* at = begin + stretch.offset;
    ASSERT_TRUE(device->fill(at, 7, stretch.bytes));
    EXPECT_EQ(at[0] + at[stretch.bytes - 1], 14);
  }
  EXPECT_DEATH(*static_cast<volatile unsigned char*>(begin + distance / 2) = 1, "");
}

TEST(HostDeviceTest, no_rows_launch_nothing) {
  const auto device = host_device();
  const auto y = outputs_of(*device, *binary, {.entry = "geometry", .block = 96, .rows = 0}, 96);
  EXPECT_EQ(y, std::vector<float>(96, 0.0f));
}

TEST(HostDeviceTest, a_wrong_digest_is_refused) {
  const auto device = host_device();
  Binary damaged = *binary;
  damaged.bytes[damaged.bytes.size() / 2] ^= 1;
  const auto kernel = device->load(damaged, launch_of({.entry = "geometry"}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::data_loss);
}

TEST(HostDeviceTest, bytes_that_are_no_shared_object_are_refused) {
  const auto device = host_device();
  Binary rubbish{.format = BinaryFormat::host_object, .bytes = "not an object", .entry = "kernel"};
  rubbish.digest = sha256_hex(rubbish.bytes);
  const auto kernel = device->load(rubbish, launch_of({}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(kernel.error().message.find("file too short"), std::string::npos)
      << kernel.error().message;
}

TEST(HostDeviceTest, a_missing_entry_is_named) {
  const auto device = host_device();
  const auto kernel = device->load(*binary, launch_of({.entry = "no_such_kernel"}));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(kernel.error().message.find("no_such_kernel"), std::string::npos);
}

TEST(HostDeviceTest, a_cubin_and_a_cooperative_launch_of_clusters_are_refused) {
  const auto device = host_device();
  Binary cubin = *binary;
  cubin.format = BinaryFormat::cubin;
  EXPECT_EQ(device->load(cubin, launch_of({})).error().code, ErrorCode::failed_precondition);
  Launch launch = launch_of({.entry = "geometry"});
  launch.cooperative = true;
  launch.cluster = 2;
  EXPECT_EQ(device->load(*binary, launch).error().code, ErrorCode::failed_precondition);
  launch.cooperative = false;
  launch.cluster = 1;
  launch.block = 48;
  EXPECT_EQ(device->load(*binary, launch).error().code, ErrorCode::failed_precondition);
}

TEST(HostDeviceTest, a_grid_that_would_leave_rows_out_is_not_launched) {
  const auto device = host_device();
  Launch launch = launch_of({.entry = "geometry"});
  launch.strides = false;
  launch.blocks_max = 2;
  const auto kernel = device->load(*binary, launch);
  ASSERT_TRUE(kernel);
  DeviceArray<float> y(*device, 2 * 96);
  const NormArguments arguments{.y = y.address()};
  EXPECT_TRUE(device->launch({kernel->get(), bytes_of(arguments), 2}));
  const auto left_out = device->launch({kernel->get(), bytes_of(arguments), 3});
  ASSERT_FALSE(left_out);
  EXPECT_EQ(left_out.error().field, "rows");
}

// Equal bytes loaded twice must not share their state, nor may a later object be taken for one that
// was loaded from the same descriptor number.
TEST(HostDeviceTest, kernels_loaded_side_by_side_are_their_own) {
  const auto device = host_device();
  const Binary other = compiled(
      "NORMD_KERNEL(geometry, NormArguments, 32) { static_cast<float*>(arguments.y)[0] = 5.0f; }");
  const auto first = device->load(*binary, launch_of({.entry = "geometry"}));
  const auto second = device->load(other, launch_of({.entry = "geometry"}));
  const auto third = device->load(*binary, launch_of({.entry = "geometry"}));
  ASSERT_TRUE(first && second && third);
  for (const auto& [kernel, expected] :
       {std::pair{first->get(), 10000.0f}, {second->get(), 5.0f}, {third->get(), 10000.0f}}) {
    DeviceArray<float> y(*device, 32);
    const NormArguments arguments{.y = y.address()};
    ASSERT_TRUE(device->launch({kernel, bytes_of(arguments), 1}));
    EXPECT_EQ(y.values()[0], expected);
  }
}

TEST(HostDeviceTest, memory_is_counted_and_its_end_is_an_answer) {
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

TEST(HostDeviceTest, freed_memory_can_be_had_again) {
  const auto device = host_device();
  const auto most = static_cast<std::size_t>(device->spec().memory_bytes) * 3 / 4;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(device->allocate(most));
}

TEST(HostDeviceTest, a_launch_over_the_limits_of_its_chip_is_refused) {
  const auto device = open_host_device("host:sm_75");
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->spec().shared_bytes_per_block_max, 65536);
  const auto shared =
      launch_once(**device, *binary, {.entry = "geometry", .shared_bytes = 65537}, {});
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(shared.error().message.find("65537 shared bytes"), std::string::npos)
      << shared.error().message;
  const auto block = launch_once(**device, *binary, {.entry = "geometry", .block = 1056}, {});
  ASSERT_FALSE(block);
  EXPECT_NE(block.error().message.find("1056 threads per block"), std::string::npos)
      << block.error().message;
}

TEST(HostDeviceTest, it_says_who_it_is_and_which_names_there_are) {
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

TEST(HostDeviceTest, resident_blocks_follow_from_the_limits) {
  const auto device = open_host_device("host:sm_90");
  const auto blocks = [&](int block, int shared_bytes) {
    const auto kernel = (*device)->load(
        *binary, launch_of({.entry = "geometry", .block = block, .shared_bytes = shared_bytes}));
    return (*kernel)->resources().blocks_per_sm;
  };
  EXPECT_EQ(blocks(256, 0), 8);
  EXPECT_EQ(blocks(32, 0), 32);
  EXPECT_EQ(blocks(32, 100000), 2);
}

TEST(HostDeviceTest, entries_run_one_after_the_other) {
  const auto device = host_device();
  Launch launch = launch_of({});
  launch.entries = {"add_one", "double_it", "add_one"};
  const auto kernel = device->load(*binary, launch);
  ASSERT_TRUE(kernel) << kernel.error().message;
  DeviceArray<float> y(*device, 32);
  const NormArguments arguments{.y = y.address()};
  ASSERT_TRUE(device->launch({kernel->get(), bytes_of(arguments), 1}));
  EXPECT_EQ(y.values(), std::vector<float>(32, 3.0f));
}

TEST(HostDeviceTest, a_sequence_keeps_its_arguments_and_runs_only_when_replayed) {
  const auto device = host_device();
  const auto kernel = device->load(*binary, launch_of({.entry = "add_one"}));
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

}  // namespace
}  // namespace normd
