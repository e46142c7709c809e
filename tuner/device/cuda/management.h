// What NVIDIA's management library (NVML) knows of a GPU and the driver does not. The library is
// opened at run time and may be absent: then everything is unknown and nothing fails. Any thread.
#pragma once

#include <string>

namespace normd {

struct BoardFacts {
  std::string driver_version;  // "580.95.05"; empty: unknown
  int power_limit_w = 0;       // as enforced now; 0: unknown, as on a MIG slice
  int sm_clock_mhz = 0;        // highest; 0: unknown
  int memory_clock_mhz = 0;
};

// `uuid` as in DeviceIdentity.
BoardFacts read_board_facts(const std::string& library, const std::string& uuid);

}  // namespace normd
