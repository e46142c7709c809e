#include "tuner/compiler/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "kernels/check.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// A compiler that is given nonsense can print for ever; what matters comes first.
constexpr std::size_t output_bytes_max = std::size_t{64} << 10;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;  // it would be closed twice
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_;
};

// The caller's environment with two changes: messages in English, because they are stored and
// compared, and temporary files where they are removed even after a kill.
std::vector<std::string> environment(const ChildProgram& program) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("LC_ALL=") && !text.starts_with("TMPDIR=")) all.emplace_back(text);
  }
  all.push_back("LC_ALL=C");
  all.push_back("TMPDIR=" + program.directory.string());
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What posix_spawn is told; owns the two C objects.
struct SpawnPlan {
  SpawnPlan(const ChildProgram& program, int output) {
    NORMD_CHECK(posix_spawn_file_actions_init(&actions) == 0 &&
                posix_spawnattr_init(&attributes) == 0);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions, program.directory.c_str());
    // A group of its own, so that a kill reaches the compiler's children; and the signals as a
    // program expects them, whatever the calling thread blocks or ignores.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Reads until every writer is gone. False: the deadline came first.
bool read_until(int descriptor, Clock::time_point deadline, std::string& output) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(std::min<long long>(left, 60'000))) <= 0) continue;
    char bytes[4096];
    const ssize_t count = read(descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    const std::size_t room = output_bytes_max - output.size();
    output.append(bytes, std::min(room, static_cast<std::size_t>(count)));
  }
}

// Waits although the child may have closed its streams long ago. False: the deadline came first.
bool wait_until(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    NORMD_CHECK(ended == 0 || errno == EINTR);  // nobody else collects this child
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<ProgramEnd> run_to_end(const ChildProgram& program) {
  NORMD_CHECK(!program.command.empty());
  const auto deadline = Clock::now() + program.limit;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorCode::resource_exhausted,
                std::string("making a pipe: ") + std::strerror(errno));
  }
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);

  std::vector<std::string> command = program.command;
  std::vector<std::string> variables = environment(program);
  const SpawnPlan plan(program, writing.number());
  pid_t child = 0;
  const int refused = posix_spawnp(&child, command.front().c_str(), &plan.actions, &plan.attributes,
                                   pointers_to(command).data(), pointers_to(variables).data());
  if (refused != 0) {
    return fail(ErrorCode::not_found,
                "starting " + command.front() + ": " + std::strerror(refused));
  }
  writing.reset();  // or the end would never come

  ProgramEnd end;
  int status = 0;
  if (!read_until(reading.number(), deadline, end.output) || !wait_until(child, deadline, status)) {
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return fail(ErrorCode::deadline_exceeded, command.front() + " was killed after " +
                                                  std::to_string(program.limit.count()) + " ms");
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

}  // namespace normd
