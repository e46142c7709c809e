// The primitives of grid.cuh on the host device, and the cooperative launches that they need.
#include <gtest/gtest.h>

#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

// Every block tells all others its number, in more messages than a warp has lanes, and adds up what
// it is told.
constexpr std::string_view kernels = R"(
struct Mail { Posted posted[40]; unsigned count; };

NORMD_KERNEL(tell_all, NormArguments, 64) {
  Mail* mail = static_cast<Mail*>(arguments.workspace);
  const unsigned before = load_left(&mail->count);
  block_barrier();
  const float number = static_cast<float>(block_index() + 1);
  if (thread_index() == 0) {
    for (long long i = block_index(); i < 40; i += grid_blocks())
      post(&mail->posted[i], {{number, 2.0f * number, static_cast<float>(i)}, before + 1u});
  }
  if (thread_index() >= 32) return;
  Posted taken[2] = {};
  take_posted<40>(mail->posted, before + 1u, taken);
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    const int place = thread_index() + 32 * i;
    if (place < 40 && taken[i].value[2] != static_cast<float>(place)) return;
    if (place < 40 && taken[i].value[1] != 2.0f * taken[i].value[0]) return;
    sum += taken[i].value[0];
  }
  sum = lanes_sum<32>(sum);
  if (thread_index() == 0) static_cast<float*>(arguments.y)[block_index()] = sum;
  if (block_index() == 0 && thread_index() == 0) leave_to_next(&mail->count, before + 1u);
}
)";

constexpr std::size_t mail_bytes = 40 * 16 + 16;

const Binary& binary() {
  static const Binary once = compiled(written_out("grid.cuh") + std::string(kernels));
  return once;
}

HostRun run_of(bool cooperative) {
  return {.entry = "tell_all", .block = 64, .rows = 5, .cooperative = cooperative};
}

TEST(GridHostTest, blocks_of_a_cooperative_launch_wait_for_each_other_launch_after_launch) {
  for (const ScheduleOrder order :
       {ScheduleOrder::ascending, ScheduleOrder::descending, ScheduleOrder::shuffled}) {
    const auto device = host_device({.order = order});
    DeviceArray<char> workspace(*device, mail_bytes);
    for (int launch = 0; launch < 3; ++launch) {
      const auto sums = outputs_of(*device, binary(), run_of(true), 5,
                                   {.rows = 5, .workspace = workspace.address()});
      // 1 + 2 + 3 + 4 + 5, eight times.
      EXPECT_EQ(sums, std::vector<float>(5, 120.0f)) << "launch " << launch;
    }
  }
}

TEST(GridHostTest, blocks_that_wait_for_one_that_is_not_there_are_a_fault) {
  const auto device = host_device();
  DeviceArray<char> workspace(*device, mail_bytes);
  DeviceArray<float> y(*device, 5);
  const auto done = launch_once(*device, binary(), run_of(false),
                                {.y = y.address(), .rows = 5, .workspace = workspace.address()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message.substr(0, 6), "fault:") << done.error().message;
}

}  // namespace
}  // namespace normd
