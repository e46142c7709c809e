// The daemon's life: makes every part in the order of its dependence, serves until a stop signal,
// and takes all down again. For main only, which has blocked the stop signals and started no
// thread.
#pragma once

#include <string>

#include "service/daemon/config.h"
#include "service/daemon/exit_code.h"
#include "service/daemon/log.h"
#include "tuner/stop_point.h"

namespace normd {

struct DaemonParts {
  const Config* config = nullptr;
  const Log* log = nullptr;
  std::string program;  // path of this program, which is its own worker
  StopPoint stop_point;
};

ExitCode run_daemon(const DaemonParts& parts);

}  // namespace normd
