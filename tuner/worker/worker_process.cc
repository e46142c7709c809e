#include "tuner/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "kernels/check.h"
#include "tuner/worker/worker_main.h"

extern char** environ;

namespace normd {

struct WorkerProcess::Child {
  int descriptor = -1;
  std::atomic<int> pid = -1;
  bool usable = true;

  ~Child() {
    if (descriptor >= 0) ::close(descriptor);
    reap(std::chrono::milliseconds(200));
  }

  // Waits for the child to end by itself, then ends it.
  void reap(std::chrono::milliseconds patience) {
    const int id = pid.exchange(-1);
    if (id < 0) return;
    const auto until = std::chrono::steady_clock::now() + patience;
    int status = 0;
    while (::waitpid(id, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= until) {
        ::kill(id, SIGKILL);
        ::waitpid(id, &status, 0);
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  // Ends the child at once and says how it ended, for the refusal's text.
  std::string end() {
    usable = false;
    const int id = pid.exchange(-1);
    if (id < 0) return "it had ended before";
    int status = 0;
    // Give a dying process the moment it needs to become a status of its own.
    for (int i = 0; i < 50 && ::waitpid(id, &status, WNOHANG) == 0; ++i) {
      if (i == 49) {
        ::kill(id, SIGKILL);
        ::waitpid(id, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (WIFSIGNALED(status)) return std::string("ended by signal ") + ::strsignal(WTERMSIG(status));
    return "exited with status " + std::to_string(WEXITSTATUS(status));
  }
};

WorkerProcess::WorkerProcess(std::unique_ptr<Child> child) : child_(std::move(child)) {}
WorkerProcess::WorkerProcess(WorkerProcess&&) noexcept = default;
WorkerProcess& WorkerProcess::operator=(WorkerProcess&&) noexcept = default;
WorkerProcess::~WorkerProcess() = default;

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& command) {
  NORMD_CHECK(!command.empty());
  int ends[2];
  // Close-on-exec on both: the child gets its end by the spawn action below, and no other child
  // of this process may hold the socket open.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ErrorCode::internal,
                std::string("socketpair for a worker: ") + std::strerror(errno));
  }
  auto child = std::make_unique<Child>();
  child->descriptor = ends[0];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Duplicating to the same number would keep close-on-exec; the high number avoids that.
  const int high = ::fcntl(ends[1], F_DUPFD_CLOEXEC, worker_descriptor + 1);
  posix_spawn_file_actions_adddup2(&actions, high, worker_descriptor);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int status =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(high);
  ::close(ends[1]);
  if (status != 0) {
    return fail(ErrorCode::failed_precondition,
                "starting the worker " + command[0] + ": " + std::strerror(status));
  }
  child->pid = pid;
  return WorkerProcess(std::move(child));
}

Result<Frame> WorkerProcess::ask(const Frame& request, std::chrono::milliseconds limit) {
  if (!child_->usable) return fail(ErrorCode::unavailable, "the worker has ended");
  const auto lost = [&](const std::string& during) {
    return fail(ErrorCode::unavailable, "the worker died while " + during + ": " + child_->end());
  };
  if (auto sent = write_frame(child_->descriptor, request); !sent) return lost("taking a request");
  const auto until = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      kill();
      child_->end();
      return fail(ErrorCode::deadline_exceeded, "the worker gave no answer to '" + request.verb +
                                                    "' within " + std::to_string(limit.count()) +
                                                    " ms and was ended");
    }
    pollfd entry{.fd = child_->descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()) + 1);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return lost("being waited for");
  }
  auto answer = read_frame(child_->descriptor);
  if (!answer) return lost("working on '" + request.verb + "'");
  return answer;
}

bool WorkerProcess::alive() const {
  return child_ != nullptr && child_->usable && child_->pid >= 0;
}
int WorkerProcess::pid() const {
  return child_->pid;
}

void WorkerProcess::kill() {
  const int id = child_->pid;
  if (id > 0) ::kill(id, SIGKILL);
}

}  // namespace normd
