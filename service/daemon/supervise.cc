#include "service/daemon/supervise.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "service/daemon/exit_code.h"
#include "service/daemon/signals.h"

namespace normd {
namespace {

constexpr std::chrono::milliseconds delay_min{100};
constexpr std::chrono::milliseconds delay_max{5'000};
constexpr std::chrono::milliseconds healthy_after{60'000};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&signals, signal);
  return signals;
}

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // Ends with its parent, even if that is killed. The parent has one thread, which lives as long.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::stopped));
  restore_signals();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(arguments[0], arguments.data());
  _exit(static_cast<int>(ExitCode::internal));
}

// How one run ended: its wait status, and whether somebody asked for the end.
struct Ended {
  int status = 0;
  bool asked = false;
};

Ended wait_for_end(pid_t child) {
  const sigset_t signals = watched_signals();
  Ended ended;
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal == SIGCHLD) {
      if (waitpid(child, &ended.status, WNOHANG) == child) return ended;
    } else {
      ended.asked = true;
      kill(child, signal);
    }
  }
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// True if a stop signal came while waiting.
bool rest(std::chrono::milliseconds delay) {
  sigset_t signals = watched_signals();
  sigdelset(&signals, SIGCHLD);
  const timespec time{.tv_sec = delay.count() / 1000,
                      .tv_nsec = (delay.count() % 1000) * 1'000'000};
  return sigtimedwait(&signals, nullptr, &time) > 0;
}

}  // namespace

std::chrono::milliseconds restart_delay(int failures) {
  return std::min(delay_max, delay_min * (1 << std::min(failures, 10)));
}

bool counts_as_healthy(std::chrono::milliseconds lasted) {
  return lasted >= healthy_after;
}

int supervise(const std::vector<std::string>& command, const Log& log) {
  const sigset_t signals = watched_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  int failures = 0;
  while (true) {
    const auto begun_at = std::chrono::steady_clock::now();
    const pid_t child = start(command);
    if (child < 0) {
      log.error("start_failed", {{"reason", std::strerror(errno)}});
      return static_cast<int>(ExitCode::internal);
    }
    const Ended ended = wait_for_end(child);
    const int status = exit_status(ended.status);
    if (ended.asked || !worth_restarting(status)) return status;
    const auto lasted = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun_at);
    failures = counts_as_healthy(lasted) ? 0 : failures + 1;
    const auto delay = restart_delay(failures);
    log.error("daemon_ended", {{"exit_status", status}, {"restart_in_ms", delay.count()}});
    if (rest(delay)) return static_cast<int>(ExitCode::stopped);
  }
}

}  // namespace normd
