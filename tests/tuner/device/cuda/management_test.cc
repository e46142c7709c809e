// What is read of a GPU's condition, and what is made of a library that tells less or nothing.
#include "tuner/device/cuda/management.h"

#include <gtest/gtest.h>

#include "tests/tuner/device/cuda/fake_driver.h"
#include "tuner/device/cuda/open_cuda_device.h"

namespace normd {
namespace {

constexpr int not_supported = 3;

DeviceCondition condition_by(const std::string& library) {
  return Management(library).board("GPU-0").condition();
}

std::string held_back_by(unsigned long long reasons) {
  fresh_fake_driver().clock_reasons = reasons;
  return condition_by(fake_driver_path()).held_back;
}

TEST(Management, clocks_are_read_as_they_are_now) {
  FakeDriver& fake = fresh_fake_driver();
  const Management management(fake_driver_path());
  const Board board = management.board("GPU-0");
  for (const unsigned clock : {345u, 1980u}) {
    fake.sm_clock_mhz = clock;
    fake.memory_clock_mhz = clock + 1;
    const DeviceCondition expected{.sm_clock_mhz = static_cast<int>(clock),
                                   .memory_clock_mhz = static_cast<int>(clock) + 1};
    EXPECT_EQ(board.condition(), expected);
  }
}

TEST(Management, a_reading_starts_nothing_and_looks_no_device_up) {
  FakeDriver& fake = fresh_fake_driver();
  {
    const Board board = Management(fake_driver_path()).board("GPU-0");
    for (int i = 0; i < 10; ++i) EXPECT_EQ(board.condition().sm_clock_mhz, 1980);
    EXPECT_EQ(fake.calls["nvmlInit"], 1);
    EXPECT_EQ(fake.calls["nvmlDeviceGetHandleByUUID"], 1);
    EXPECT_EQ(fake.calls["nvmlShutdown"], 0);
  }
  EXPECT_EQ(fake.calls["nvmlShutdown"], 1);
}

TEST(Management, slowdowns_by_hardware_or_heat_hold_a_device_back) {
  EXPECT_EQ(held_back_by(0x08), "hw_slowdown");
  EXPECT_EQ(held_back_by(0x20), "sw_thermal_slowdown");
  EXPECT_EQ(held_back_by(0x40), "hw_thermal_slowdown");
  EXPECT_EQ(held_back_by(0x80), "hw_power_brake");
}

TEST(Management, of_several_reasons_the_most_particular_is_named) {
  EXPECT_EQ(held_back_by(0x08 | 0x40), "hw_thermal_slowdown");
  EXPECT_EQ(held_back_by(0x08 | 0x80), "hw_power_brake");
  EXPECT_EQ(held_back_by(0x04 | 0x20 | 0x100), "sw_thermal_slowdown");
}

// Idle, clocks set by somebody, the power cap, boost in step with others, the display's clocks.
TEST(Management, what_is_normal_for_a_card_holds_nothing_back) {
  for (const unsigned long long reason : {0x0, 0x1, 0x2, 0x4, 0x10, 0x100, 0x117}) {
    EXPECT_EQ(held_back_by(reason), "") << reason;
  }
}

TEST(Management, what_the_device_does_not_support_is_unknown_and_the_rest_is_read) {
  FakeDriver& fake = fresh_fake_driver();
  fake.clock_reasons = 0x40;
  fake.results["nvmlDeviceGetClockInfo"] = not_supported;
  EXPECT_EQ(condition_by(fake_driver_path()),
            (DeviceCondition{.held_back = "hw_thermal_slowdown"}));
  fake.results = {{"nvmlDeviceGetCurrentClocksEventReasons", not_supported}};
  EXPECT_EQ(condition_by(fake_driver_path()),
            (DeviceCondition{.sm_clock_mhz = 1980, .memory_clock_mhz = 2619}));
}

TEST(Management, an_older_library_has_the_reasons_by_their_older_name) {
  const DeviceCondition expected{
      .sm_clock_mhz = 1200, .memory_clock_mhz = 800, .held_back = "sw_thermal_slowdown"};
  EXPECT_EQ(condition_by(fake_old_management_path()), expected);
}

TEST(Management, without_the_functions_the_condition_is_unknown_and_the_facts_are_read) {
  const Board board = Management(fake_oldest_management_path()).board("GPU-0");
  EXPECT_EQ(board.condition(), DeviceCondition{});
  EXPECT_EQ(board.facts().power_limit_w, 300);
}

TEST(Management, without_a_library_or_the_device_everything_is_unknown) {
  EXPECT_EQ(condition_by("/no/such/libnvidia-ml.so.1"), DeviceCondition{});
  FakeDriver& fake = fresh_fake_driver();
  fake.results["nvmlDeviceGetHandleByUUID"] = 6;
  EXPECT_EQ(condition_by(fake_driver_path()), DeviceCondition{});
  fake.results = {{"nvmlInit", 9}};
  EXPECT_EQ(condition_by(fake_driver_path()), DeviceCondition{});
}

TEST(Management, a_device_keeps_the_library_for_its_life_and_closes_it_then) {
  FakeDriver& fake = fresh_fake_driver();
  const auto device = open_cuda_device(
      "0", CudaLibraries{.driver = fake_driver_path(), .management = fake_driver_path()});
  ASSERT_TRUE(device) << device.error().message;
  fake.clock_reasons = 0x08;
  EXPECT_EQ((*device)->condition().held_back, "hw_slowdown");
  EXPECT_EQ((*device)->condition().sm_clock_mhz, 1980);
  EXPECT_EQ(fake.calls["nvmlInit"], 1);
}

}  // namespace
}  // namespace normd
