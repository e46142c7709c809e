// StoreWatch: tells the log what becomes of the store while the daemon runs, once for each change.
// One thread.
#pragma once

#include <cstdint>
#include <string>

#include "service/daemon/log.h"
#include "tuner/store/store.h"

namespace normd {

class StoreWatch {
 public:
  // Tells what is not well at the start.
  StoreWatch(const StoreStatus& status, const Log& log) : log_(log) { look(status); }
  void look(const StoreStatus& status);

 private:
  const Log& log_;
  bool persistent_ = true;
  std::string set_aside_;
  std::int64_t rows_evicted_ = 0;
};

}  // namespace normd
