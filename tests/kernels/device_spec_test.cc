#include "kernels/device_spec.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(device_spec, every_supported_architecture_has_a_preset_of_its_own) {
  const std::vector<std::string> expected{"sm_75", "sm_80",  "sm_86", "sm_89",
                                          "sm_90", "sm_100", "sm_120"};
  EXPECT_EQ(supported_architectures(), expected);
  for (const std::string& architecture : expected) {
    const auto spec = architecture_preset(architecture);
    ASSERT_TRUE(spec) << architecture;
    EXPECT_EQ(spec->architecture(), architecture);
    EXPECT_EQ(spec->kind, DeviceKind::cuda);
  }
}

TEST(device_spec, an_unknown_architecture_has_none) {
  for (const char* unknown : {"", "sm_9", "sm_900", "sm_90a", "90", "host", "SM_90"}) {
    EXPECT_FALSE(architecture_preset(unknown)) << unknown;
  }
}

TEST(device_spec, every_limit_of_a_preset_is_filled_in_and_sound) {
  for (const std::string& architecture : supported_architectures()) {
    const DeviceSpec spec = *architecture_preset(architecture);
    EXPECT_GT(spec.sm_count, 0) << architecture;
    EXPECT_EQ(spec.threads_per_block_max, 1024) << architecture;
    EXPECT_GE(spec.threads_per_sm_max, spec.threads_per_block_max) << architecture;
    EXPECT_EQ(spec.threads_per_sm_max % 32, 0) << architecture;
    EXPECT_GE(spec.blocks_per_sm_max, 16) << architecture;
    EXPECT_EQ(spec.registers_per_sm, 65536) << architecture;
    EXPECT_GE(spec.shared_bytes_per_sm, spec.shared_bytes_per_block_max) << architecture;
    EXPECT_GE(spec.shared_bytes_per_block_max, 49152) << architecture;
    EXPECT_GT(spec.l2_bytes, 0) << architecture;
    EXPECT_GT(spec.memory_bytes, 0) << architecture;
    EXPECT_GT(spec.sm_clock_mhz, 0) << architecture;
    EXPECT_GT(spec.measure_bytes, 0) << architecture;
    EXPECT_LT(4 * spec.measure_bytes, spec.memory_bytes) << architecture;
    EXPECT_EQ(spec.vector_bytes_max, spec.capability >= 100 ? 32 : 16) << architecture;
  }
}

TEST(device_spec, the_memory_rate_is_the_data_sheets) {
  EXPECT_NEAR(architecture_preset("sm_75")->memory_bytes_per_ns(), 320, 1);
  EXPECT_NEAR(architecture_preset("sm_80")->memory_bytes_per_ns(), 1555, 1);
  EXPECT_NEAR(architecture_preset("sm_90")->memory_bytes_per_ns(), 4917, 1);
}

TEST(device_spec, the_host_takes_a_chips_block_limits_but_its_own_sizes) {
  const DeviceSpec plain = host_device_spec();
  const DeviceSpec chip = *architecture_preset("sm_90");
  const DeviceSpec as_chip = host_device_spec(chip);
  for (const DeviceSpec& spec : {plain, as_chip}) {
    EXPECT_EQ(spec.kind, DeviceKind::host);
    EXPECT_EQ(spec.architecture(), "host");
    EXPECT_LE(spec.measure_bytes, 4 << 20);
    EXPECT_LE(spec.sm_count, 8);
  }
  EXPECT_EQ(as_chip.capability, 90);
  EXPECT_EQ(as_chip.shared_bytes_per_block_max, chip.shared_bytes_per_block_max);
  EXPECT_EQ(as_chip.threads_per_sm_max, chip.threads_per_sm_max);
  EXPECT_NE(as_chip, plain);
}

}  // namespace
}  // namespace normd
