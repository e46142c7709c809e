#include "service/daemon/signals.h"

#include <csignal>

namespace normd {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void block_stop_signals() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int wait_for_stop_signal() {
  const sigset_t signals = stop_signals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // the default action ends the process
  return signal;
}

void restore_signals() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace normd
