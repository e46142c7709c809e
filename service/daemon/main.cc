// normd: reads flags, file and environment into a Config, then serves; or is a worker, or a
// supervisor. Which of them is decided before any thread, gRPC or CUDA is touched.
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "service/daemon/config.h"
#include "service/daemon/daemon.h"
#include "service/daemon/signals.h"
#include "service/daemon/supervise.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/worker_main.h"

namespace normd {
namespace {

// The resolved path, so that a worker is this very program whatever the working directory is.
std::string own_path() {
  char path[PATH_MAX];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
  return bytes > 0 ? std::string(path, static_cast<std::size_t>(bytes)) : "normd";
}

int run_worker(int count, char** arguments) {
  StopPoint stop_point;
  CompilerPlaces places;
  // Written by this program itself (daemon.cc, tuner.cc), in pairs.
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--stop-point") stop_point.name = arguments[i + 1];
    if (name == "--nvrtc") places.nvrtc_library = arguments[i + 1];
  }
  return worker_main(stop_point, places);
}

int complain(const Error& error) {
  std::fprintf(stderr, "normd: %s\n", error.message.c_str());
  return static_cast<int>(ExitCode::usage);
}

Result<Config> read_config(const CommandLine& command) {
  Settings file;
  if (!command.config_file.empty()) {
    auto read = read_settings_file(command.config_file);
    if (!read) return fail(std::move(read.error()));
    file = std::move(*read);
  }
  return make_config(merged(command.settings, file), read_place_variables(std::getenv));
}

std::vector<std::string> supervised_command(int count, char** arguments) {
  std::vector<std::string> command{own_path()};
  command.insert(command.end(), arguments + 1, arguments + count);
  command.emplace_back("--supervised");
  return command;
}

int run(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "worker") return run_worker(count, arguments);
  const auto command = read_command_line(count, arguments);
  if (!command) return complain(command.error());
  if (!command->printed.empty()) {
    std::fputs(command->printed.c_str(), stdout);
    return 0;
  }
  const auto config = read_config(*command);
  if (!config) return complain(config.error());
  const Log log(config->log_level, config->log_format);
  block_stop_signals();
  if (config->supervise && !command->supervised) {
    return supervise(supervised_command(count, arguments), log);
  }
  return static_cast<int>(run_daemon({.config = &*config,
                                      .log = &log,
                                      .program = own_path(),
                                      .stop_point = StopPoint{command->stop_point}}));
}

}  // namespace
}  // namespace normd

int main(int count, char** arguments) {
  return normd::run(count, arguments);
}
