#include "service/daemon/daemon.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <thread>

#include "service/daemon/accept_loop.h"
#include "service/daemon/core.h"
#include "service/daemon/listening.h"
#include "service/daemon/server.h"
#include "service/daemon/signals.h"
#include "service/daemon/warm_list.h"
#include "service/daemon/warming.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

// Calls in flight get this long to end by themselves after a stop signal.
constexpr std::chrono::milliseconds grace{2'000};

// And the rest of the process this much longer.
constexpr std::chrono::milliseconds take_down{1'000};

// How long gRPC's own end is waited for.
constexpr std::chrono::milliseconds library_patience{200};

// Everything that listens. The lock is taken here, before any other part can be in the way of the
// daemon that has it.
struct Listeners {
  UnixListener unix_listener;
  std::optional<TcpListener> tcp;

  std::vector<int> descriptors() const {
    std::vector<int> all{unix_listener.descriptor()};
    if (tcp) all.push_back(tcp->socket.get());
    return all;
  }
};

Started<Listeners> listen(const Config& config) {
  auto unix_listener = UnixListener::bind(config.socket.path);
  if (!unix_listener) return tl::unexpected(std::move(unix_listener.error()));
  Listeners listeners{std::move(*unix_listener), std::nullopt};
  if (config.listen) {
    auto tcp = listen_tcp(*config.listen);
    if (!tcp) return tl::unexpected(std::move(tcp.error()));
    listeners.tcp = std::move(*tcp);
  }
  return listeners;
}

// Half of what the process may open is for connections; the store, workers and locks need the rest.
int connections_max() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_NOFILE, &files);
  return static_cast<int>(std::min<rlim_t>(limits::connections_max, files.rlim_cur / 2));
}

Result<std::vector<std::string>> device_names(const Config& config) {
  if (!config.devices.empty()) return config.devices;
  const auto gpus = list_gpus();
  if (!gpus) {
    return fail(ErrorCode::failed_precondition,
                "no GPU can be served: " + gpus.error().message +
                    ". To try things out on the CPU: normd --devices host");
  }
  std::vector<std::string> names;
  for (const DeviceListing& gpu : *gpus) names.push_back(gpu.identity.uuid);
  return names;
}

Result<void> start_devices(Core& core) {
  const auto names = device_names(core.config());
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    if (auto started = core.start_device(name); !started) {
      Error error = std::move(started.error());
      error.message = "device " + name + ": " + error.message;
      return fail(std::move(error));
    }
    const ServedDevice& device = *core.devices().back();
    core.log().info("device", {{"index", device.index()},
                               {"uuid", device.identity().uuid},
                               {"name", device.identity().name},
                               {"driver", device.identity().driver},
                               {"fingerprint", to_text(device.fingerprint())}});
    if (device.spec().kind == DeviceKind::host) {
      core.log().warning("host_device",
                         {{"note", "kernels run on the CPU; times mean nothing for a GPU"}});
    }
  }
  core.set_started();
  core.log().info("compiler", {{"compiler", core.compiler()}});
  return {};
}

Result<std::vector<WarmShape>> read_warm_list(const std::string& path) {
  if (path.empty()) return std::vector<WarmShape>();
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::invalid_argument, "--warm: " + path + " cannot be read", "warm");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_warm_list(text, path);
}

// One line on standard output for whoever waits for it, a script or a person.
void announce(const Config& config, const Listeners& listeners) {
  std::string line = "normd ready socket=" + config.socket.path;
  if (listeners.tcp) {
    line += " listen=" + config.listen->host + ":" + std::to_string(listeners.tcp->port);
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The last of a daemon of which everything is stored and closed. gRPC waits for threads of its own
// when its last server goes, at times ten seconds for one that polls a connection that has just
// been closed; nobody has anything from that wait.
void let_go(Server server, const Log& log) {
  std::promise<void> gone;
  auto waited = gone.get_future();
  std::thread library([last = std::optional<Server>(std::move(server)), &gone]() mutable {
    last.reset();
    gone.set_value();
  });
  if (waited.wait_for(library_patience) == std::future_status::ready) return library.join();
  log.info("stopped");
  std::_Exit(static_cast<int>(ExitCode::stopped));
}

// Calls and the tuning under way share one grace; then everything is taken down. What does not end
// in time (a compiler at work, say) is left where it is: what a tuning found is stored already, and
// workers end with this process. Nothing may be destroyed then, so that path does not return.
void stop(std::unique_ptr<Core> core, Server server, Listeners listeners) {
  const Log& log = core->log();
  const auto until = std::chrono::steady_clock::now() + grace + take_down;
  std::promise<void> calls_ended;
  std::promise<void> all_ended;
  const std::jthread ending([&] {
    core->stop();
    calls_ended.get_future().wait();
    if (auto tidied = core->store().tidy(); !tidied) {
      log.warning("store_not_tidied", {{"reason", tidied.error()}});
    }
    core.reset();
    all_ended.set_value();
  });
  server.stop(grace);
  calls_ended.set_value();
  const bool ended = all_ended.get_future().wait_until(until) == std::future_status::ready;
  { const UnixListener closed = std::move(listeners.unix_listener); }
  if (ended) return let_go(std::move(server), log);
  log.warning("stopped", {{"left", "a worker that did not end in time"}});
  std::_Exit(static_cast<int>(ExitCode::stopped));
}

// Serves, and returns once a stop signal has come and no connection is accepted any more. Calls are
// answered while the listed shapes are made ready, but only then is the daemon said to be serving.
void serve_until_asked_to_stop(Core& core, Server& server, const Listeners& listeners,
                               const std::vector<WarmShape>& shapes) {
  const AcceptLoop accept_loop(
      {.listeners = listeners.descriptors(),
       .connections_max = connections_max(),
       .take = [&](int descriptor, int listener) { server.take_connection(descriptor, listener); },
       .log = &core.log()});
  std::jthread starting([&](const std::stop_token& stop) {
    if (!warm_up(core, shapes, stop)) return;
    core.set_serving(true);
    server.set_health(true);
    announce(core.config(), listeners);
    core.log().info("serving",
                    {{"socket", core.config().socket.path}, {"store", core.store().status().path}});
  });
  const int signal = wait_for_stop_signal();
  core.log().info("stopping", {{"signal", signal}});
  starting.request_stop();
  starting.join();
  core.set_serving(false);
  server.set_health(false);
}

ExitCode fail_with(const Log& log, ExitCode exit_code, const Error& error) {
  log.error("start_failed", {{"exit_status", static_cast<int>(exit_code)}, {"reason", error}});
  return exit_code;
}

}  // namespace

ExitCode run_daemon(const DaemonParts& parts) {
  const Config& config = *parts.config;
  const Log& log = *parts.log;
  const auto shapes = read_warm_list(config.warm_file);
  if (!shapes) return fail_with(log, ExitCode::usage, shapes.error());
  auto listeners = listen(config);
  if (!listeners) return fail_with(log, listeners.error().exit_code, listeners.error().error);
  auto store = Store::open(config.store.path, Store::Mode::read_write);
  if (!store) return fail_with(log, ExitCode::place_unusable, store.error());
  const StoreStatus status = (*store)->status();
  if (!status.engine_note.empty()) log.info("store_engine", {{"note", status.engine_note}});

  std::vector<std::string> worker{parts.program, "worker"};
  if (!config.nvrtc_library.empty()) {
    worker.insert(worker.end(), {"--nvrtc", config.nvrtc_library});
  }
  auto core = std::make_unique<Core>(Core::Parts{
      .config = &config,
      .log = &log,
      .store = std::move(*store),
      .worker = worker,
      .turn_directory = turn_directory(geteuid()),
      .stop_point = parts.stop_point,
      // Nothing can be repaired in this process: the supervisor starts the next one warm.
      .lost = [&log](const Error& error) {
        log.error("device_lost", {{"reason", error}});
        std::_Exit(static_cast<int>(ExitCode::device_lost));
      }});
  if (auto started = start_devices(*core); !started) {
    return fail_with(log, ExitCode::no_device, started.error());
  }
  auto server = Server::start(*core);
  if (!server) return fail_with(log, ExitCode::internal, server.error());
  serve_until_asked_to_stop(*core, *server, *listeners, *shapes);
  stop(std::move(core), std::move(*server), std::move(*listeners));
  log.info("stopped");
  return ExitCode::stopped;
}

}  // namespace normd
