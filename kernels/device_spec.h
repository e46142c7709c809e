// DeviceSpec: a device's limits as plain numbers, all that enumerating, ranking and launching need
// to know of it. tuner/device fills it in from hardware; presets serve machines without a GPU.
// Plain value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normd {

// Where the kernels run. On the host device the same texts run on the CPU, for tests and demos.
enum class DeviceKind : std::uint8_t { cuda = 1, host = 2 };

struct DeviceSpec {
  DeviceKind kind = DeviceKind::cuda;
  std::string name;         // as the driver says it; shown, never keyed
  int capability = 0;       // compute capability times ten: 90 for sm_90
  int sm_count = 0;
  int threads_per_block_max = 1024;
  int threads_per_sm_max = 2048;
  int blocks_per_sm_max = 32;
  int registers_per_sm = 65536;
  int shared_bytes_per_block_max = 49152;  // with opt-in
  int shared_bytes_per_sm = 65536;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;  // of the device in all
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int memory_bus_bits = 0;
  int vector_bytes_max = 16;  // widest single access: 32 from sm_100 on
  // The byte size (x and y together) at which the open, last row bucket is measured.
  std::int64_t measure_bytes = 0;

  bool operator==(const DeviceSpec&) const = default;

  double memory_bytes_per_ns() const {  // data-sheet rate: two transfers a clock
    return 2.0 * memory_clock_mhz * 1e6 * (memory_bus_bits / 8.0) / 1e9;
  }
  // "sm_90", or "host" for a host device.
  std::string architecture() const;
};

// Data-sheet figures of a typical chip of each supported architecture ("sm_75", "sm_80", "sm_86",
// "sm_89", "sm_90", "sm_100", "sm_120"), for compiling without a GPU and for `host:sm_90`.
std::optional<DeviceSpec> architecture_preset(std::string_view architecture);
const std::vector<std::string>& supported_architectures();

// The host device's own limits, small enough that tests finish; `host:sm_90` takes the chip's
// block and memory limits instead and keeps the host's sizes for measuring.
DeviceSpec host_device_spec(const std::optional<DeviceSpec>& chip = std::nullopt);

}  // namespace normd
