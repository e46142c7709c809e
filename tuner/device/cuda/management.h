// Management: what NVIDIA's management library (NVML) knows of a GPU and the driver does not. The
// library is opened at run time and may be absent: then everything is unknown and nothing fails.
// It is started when opened and shut down when the Management and its last Board go. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/device/device_condition.h"

struct nvmlDevice_st;

namespace normd {

struct BoardFacts {
  std::string driver_version;  // "580.95.05"; empty: unknown
  int power_limit_w = 0;       // as enforced now; 0: unknown, as on a MIG slice
  int sm_clock_mhz = 0;        // highest; 0: unknown
  int memory_clock_mhz = 0;
};

struct ManagementTable;

// One GPU, looked up once.
class Board {
 public:
  BoardFacts facts() const;
  // A few calls into the driver each time. What a GPU or an older library does not tell is unknown.
  // The software power cap is no reason to be held back, for a busy card may run at it all day;
  // nor are idleness and clocks that somebody has set.
  DeviceCondition condition() const;

 private:
  friend class Management;
  std::shared_ptr<const ManagementTable> table_;  // null: absent, or it did not start
  std::optional<nvmlDevice_st*> device_;          // none: unknown to the library
};

class Management {
 public:
  explicit Management(const std::string& library);

  // `uuid` as in DeviceIdentity.
  Board board(const std::string& uuid) const;

 private:
  std::shared_ptr<const ManagementTable> table_;
};

}  // namespace normd
