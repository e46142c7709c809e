// Config: everything that decides how this daemon runs, judged as a whole before anything is
// opened. Made once by main; constant afterwards; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/limits.h"
#include "service/client/places.h"
#include "service/daemon/answer.h"
#include "service/daemon/log.h"
#include "service/daemon/settings.h"

namespace normd {

// A TCP address on the loopback interface, as numbers.
struct ListenAddress {
  std::string host;  // "127.0.0.1" or "::1"
  int port = 0;      // 0: any free one

  bool operator==(const ListenAddress&) const = default;
};

struct Config {
  Place socket;
  Place store;
  std::optional<ListenAddress> listen;
  std::vector<std::string> devices;  // empty: every GPU
  std::string nvrtc_library;         // empty: searched for
  std::string warm_file;
  Policy policy = Policy::fallback;
  std::int64_t tuning_budget_ms = limits::tuning_budget_ms;
  std::optional<std::int64_t> drift_check_s;  // 0: never; none: the limit, on the host never
  int compile_workers = 0;                    // 0: half the cores, 2 to 8
  bool supervise = false;
  bool reflection = false;
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
};

// The most compiler processes per device: one process stops scaling at a few threads, and each may
// hold some hundred megabytes.
inline constexpr int compile_workers_max = 64;

// Every setting that is wrong is named with its flag or its file and line, all in one message.
Result<Config> make_config(const Settings& settings, const PlaceVariables& variables);

// What both sources say, flags first.
Settings merged(const Settings& flags, const Settings& file);

}  // namespace normd
