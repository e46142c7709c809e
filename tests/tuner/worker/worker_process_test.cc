#include "tuner/worker/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/tuner/worker/test_worker.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> worker(std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), test_worker());
  return arguments;
}

const Frame question{.verb = "compiler", .fields = {{"target", "host"}}, .body = {}};

bool process_is_gone(int pid) {
  for (int i = 0; i < 200; ++i) {
    if (::kill(pid, 0) != 0) return true;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    if (text.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(worker_process, it_answers_and_can_be_asked_again) {
  auto process = WorkerProcess::start(worker());
  ASSERT_TRUE(process) << process.error().message;
  for (int i = 0; i < 2; ++i) {
    const auto answer = process->ask(question, 10s);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->verb, "compiler");
  }
  EXPECT_TRUE(process->alive());
}

TEST(worker_process, an_unknown_verb_is_an_error_frame_and_the_worker_lives_on) {
  auto process = WorkerProcess::start(worker());
  ASSERT_TRUE(process);
  EXPECT_EQ(process->ask(Frame{.verb = "dance"}, 10s)->verb, "error");
  EXPECT_EQ(process->ask(question, 10s)->verb, "compiler");
}

TEST(worker_process, a_crash_is_unavailable_and_names_the_signal) {
  auto process = WorkerProcess::start(worker({"crash"}));
  ASSERT_TRUE(process);
  const auto answer = process->ask(question, 10s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_NE(answer.error().message.find("Abort"), std::string::npos) << answer.error().message;
  EXPECT_FALSE(process->alive());
}

TEST(worker_process, a_silent_worker_is_ended_within_its_limit) {
  auto process = WorkerProcess::start(worker({"hang"}));
  ASSERT_TRUE(process);
  const int pid = process->pid();
  const auto begun = std::chrono::steady_clock::now();
  const auto answer = process->ask(question, 300ms);
  EXPECT_EQ(answer.error().code, ErrorCode::deadline_exceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  EXPECT_TRUE(process_is_gone(pid));
  EXPECT_EQ(process->ask(question, 1s).error().code, ErrorCode::unavailable);
}

TEST(worker_process, a_program_that_is_not_there_is_said_so) {
  const auto process = WorkerProcess::start({"/nonexistent/normd", "worker"});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(process.error().message.find("/nonexistent/normd"), std::string::npos);
}

TEST(worker_process, the_child_ends_when_its_parent_goes) {
  int pid = -1;
  {
    auto process = WorkerProcess::start(worker());
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->ask(question, 10s));
    pid = process->pid();
  }
  EXPECT_TRUE(process_is_gone(pid));
}

// The parent is killed without any clean-up: the child sees the closed socket by itself.
TEST(worker_process, the_child_of_a_killed_parent_ends_within_a_second) {
  int out[2];
  ASSERT_EQ(::pipe(out), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto process = WorkerProcess::start(worker());
    const int pid = process && process->ask(question, 10s) ? process->pid() : -1;
    (void)!::write(out[1], &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  int child = -1;
  ASSERT_EQ(::read(out[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  int status = 0;
  ::waitpid(parent, &status, 0);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(process_is_gone(child));
  ::close(out[0]);
  ::close(out[1]);
}

TEST(worker_process, it_inherits_no_descriptor_but_its_socket) {
  auto process = WorkerProcess::start(worker());
  auto other = WorkerProcess::start(worker());
  ASSERT_TRUE(process && other);
  ASSERT_TRUE(other->ask(question, 10s));
  int sockets = 0;
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    char target[256] = {};
    const std::string link =
        "/proc/" + std::to_string(other->pid()) + "/fd/" + std::to_string(descriptor);
    if (::readlink(link.c_str(), target, sizeof target - 1) > 0) {
      sockets += std::string(target).rfind("socket:", 0) == 0;
    }
  }
  EXPECT_EQ(sockets, 1);
}

}  // namespace
}  // namespace normd
