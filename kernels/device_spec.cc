#include "kernels/device_spec.h"

namespace normd {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t gib = std::int64_t{1} << 30;

// Source: the compute-capability table of NVIDIA's CUDA programming guide for the limits, the
// vendor's data sheets of the chip in the comment for counts, clocks and buses.
const std::vector<DeviceSpec>& presets() {
  static const std::vector<DeviceSpec> all = [] {
    std::vector<DeviceSpec> specs;
    const auto add = [&](DeviceSpec spec) {
      spec.name = "preset sm_" + std::to_string(spec.capability);
      spec.vector_bytes_max = spec.capability >= 100 ? 32 : 16;
      spec.measure_bytes = 128 * mib;
      specs.push_back(spec);
    };
    add({.capability = 75, .sm_count = 40, .threads_per_sm_max = 1024, .blocks_per_sm_max = 16,
         .shared_bytes_per_block_max = 65536, .shared_bytes_per_sm = 65536, .l2_bytes = 4 * mib,
         .memory_bytes = 16 * gib, .sm_clock_mhz = 1590, .memory_clock_mhz = 5001,
         .memory_bus_bits = 256});  // T4
    add({.capability = 80, .sm_count = 108, .shared_bytes_per_block_max = 166912,
         .shared_bytes_per_sm = 167936, .l2_bytes = 40 * mib, .memory_bytes = 40 * gib,
         .sm_clock_mhz = 1410, .memory_clock_mhz = 1215, .memory_bus_bits = 5120});  // A100
    add({.capability = 86, .sm_count = 84, .threads_per_sm_max = 1536, .blocks_per_sm_max = 16,
         .shared_bytes_per_block_max = 101376, .shared_bytes_per_sm = 102400, .l2_bytes = 6 * mib,
         .memory_bytes = 48 * gib, .sm_clock_mhz = 1740, .memory_clock_mhz = 8001,
         .memory_bus_bits = 384});  // A40
    add({.capability = 89, .sm_count = 142, .threads_per_sm_max = 1536, .blocks_per_sm_max = 24,
         .shared_bytes_per_block_max = 101376, .shared_bytes_per_sm = 102400, .l2_bytes = 96 * mib,
         .memory_bytes = 48 * gib, .sm_clock_mhz = 2490, .memory_clock_mhz = 9001,
         .memory_bus_bits = 384});  // L40S
    add({.capability = 90, .sm_count = 132, .shared_bytes_per_block_max = 232448,
         .shared_bytes_per_sm = 233472, .l2_bytes = 60 * mib, .memory_bytes = 141 * gib,
         .sm_clock_mhz = 1980, .memory_clock_mhz = 3201, .memory_bus_bits = 6144});  // H200
    add({.capability = 100, .sm_count = 148, .shared_bytes_per_block_max = 232448,
         .shared_bytes_per_sm = 233472, .l2_bytes = 126 * mib, .memory_bytes = 180 * gib,
         .sm_clock_mhz = 1965, .memory_clock_mhz = 3996, .memory_bus_bits = 8192});  // B200
    add({.capability = 120, .sm_count = 188, .threads_per_sm_max = 1536, .blocks_per_sm_max = 24,
         .shared_bytes_per_block_max = 101376, .shared_bytes_per_sm = 102400, .l2_bytes = 128 * mib,
         .memory_bytes = 96 * gib, .sm_clock_mhz = 2617, .memory_clock_mhz = 14001,
         .memory_bus_bits = 512});  // RTX PRO 6000
    return specs;
  }();
  return all;
}

}  // namespace

std::string DeviceSpec::architecture() const {
  return kind == DeviceKind::host ? "host" : "sm_" + std::to_string(capability);
}

std::optional<DeviceSpec> architecture_preset(std::string_view architecture) {
  for (const DeviceSpec& spec : presets()) {
    if (spec.architecture() == architecture) return spec;
  }
  return std::nullopt;
}

const std::vector<std::string>& supported_architectures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const DeviceSpec& spec : presets()) all.push_back(spec.architecture());
    return all;
  }();
  return names;
}

DeviceSpec host_device_spec(const std::optional<DeviceSpec>& chip) {
  DeviceSpec spec = chip.value_or(DeviceSpec{.sm_count = 4});
  spec.kind = DeviceKind::host;
  spec.name = chip ? "host as sm_" + std::to_string(chip->capability) : "host";
  spec.sm_count = 4;
  // Small sizes: a fibre switch costs more than a GPU's whole barrier.
  spec.l2_bytes = mib / 2;
  spec.memory_bytes = 2 * gib;
  spec.measure_bytes = mib;
  return spec;
}

}  // namespace normd
