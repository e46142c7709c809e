// Supervise: a small parent that keeps one daemon running, for places without systemd or a
// container runtime. It runs before gRPC, CUDA and every thread, and never touches them. For main
// only.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "service/daemon/log.h"

namespace normd {

// Runs `command` again and again until it ends for a reason that restarting does not cure, or until
// SIGTERM or SIGINT, which are passed on. Returns the exit status for this process. The stop
// signals are blocked (signals.h).
int supervise(const std::vector<std::string>& command, const Log& log);

// How long to wait before the next start after so many failures in a row: doubles from 100 ms to 5
// s. A run that was healthy begins the count anew.
std::chrono::milliseconds restart_delay(int failures);
bool counts_as_healthy(std::chrono::milliseconds lasted);

}  // namespace normd
