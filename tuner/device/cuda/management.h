// Management: what NVIDIA's management library (NVML) knows of a GPU and the driver does not. The
// library is opened at run time and may be absent: then everything is unknown and nothing fails.
// One owner; it is started when opened and shut down when it goes. Any thread.
#pragma once

#include <memory>
#include <string>

namespace normd {

struct BoardFacts {
  std::string driver_version;  // "580.95.05"; empty: unknown
  int power_limit_w = 0;       // as enforced now; 0: unknown, as on a MIG slice
  int sm_clock_mhz = 0;        // highest; 0: unknown
  int memory_clock_mhz = 0;
};

class Management {
 public:
  explicit Management(const std::string& library);
  ~Management();

  // `uuid` as in DeviceIdentity.
  BoardFacts read(const std::string& uuid) const;

 private:
  struct Table;
  std::unique_ptr<const Table> table_;  // null: absent, or it did not start
};

}  // namespace normd
