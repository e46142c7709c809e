// The daemon, or a worker of it, is killed at every named point of a tuning. After a restart every
// acknowledged winner is there as it was, the interrupted key can be tuned, and no process is left.
#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "daemon_process.h"
#include "tuner/stop_point.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t first_columns = 200;  // the key that is tuned before anything is killed

std::vector<std::string> words_of(const std::string& file_name) {
  std::ifstream file(file_name);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// 0 if the process is gone. The fields before it are the number, the name in brackets, the state.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  return static_cast<pid_t>(std::strtol(text.c_str() + name_end + 4, nullptr, 10));
}

bool descends_from_here(pid_t pid) {
  while (pid > 1 && pid != getpid()) pid = parent_of(pid);
  return pid == getpid();
}

// Processes below this one that run `normd worker`. Whoever loses its daemon becomes a child of
// this process, which asked for that (PR_SET_CHILD_SUBREAPER).
int workers_alive() {
  int workers = 0;
  DIR* processes = ::opendir("/proc");
  while (const dirent* entry = ::readdir(processes)) {
    const auto words = words_of("/proc/" + std::string(entry->d_name) + "/cmdline");
    const bool worker = words.size() > 1 && words[0].ends_with("/normd") && words[1] == "worker";
    workers += worker && descends_from_here(std::atoi(entry->d_name));
  }
  ::closedir(processes);
  return workers;
}

void expect_no_workers(std::string_view point) {
  for (int i = 0; i < 100 && workers_alive() > 0; ++i) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(workers_alive(), 0) << point;
}

class KillPoints : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }

  std::unique_ptr<DaemonProcess> start(std::vector<std::string> flags = {}) {
    // A short budget: the default is enough here, and each candidate costs a run of the compiler.
    flags.emplace_back("--tuning-budget-ms=300");
    return std::make_unique<DaemonProcess>(directory_.path(), DaemonOptions{.flags = flags});
  }

  // Tunes and remembers what was acknowledged.
  void tune(v1::Normd::Stub& stub, std::int64_t columns) {
    const RunResult result = run(stub, ramp_request(4, columns, v1::POLICY_WAIT));
    ASSERT_TRUE(result.status.ok()) << columns << ": " << result.status.error_message();
    expect_ramp(result.response, 4, columns);
    acknowledged_[columns] = result.response.candidate();
  }

  void expect_all_acknowledged(v1::Normd::Stub& stub, std::string_view point) {
    for (const auto& [columns, candidate] : acknowledged_) {
      const RunResult result = run(stub, ramp_request(4, columns, v1::POLICY_FAIL));
      ASSERT_TRUE(result.status.ok())
          << point << ", " << columns << ": " << result.status.error_message();
      EXPECT_EQ(result.response.candidate(), candidate) << point;
      expect_ramp(result.response, 4, columns);
    }
  }

  TestDirectory directory_;
  std::map<std::int64_t, std::string> acknowledged_;
};

TEST_F(KillPoints, no_point_of_a_tuning_loses_a_winner_or_needs_a_hand) {
  {
    const auto daemon = start();
    tune(*daemon->stub(), first_columns);
    EXPECT_GT(workers_alive(), 0) << "or nothing below shows that none is left";
    daemon->signal(SIGTERM);
    ASSERT_EQ(daemon->wait_for_exit(), 0);
  }
  std::int64_t columns = first_columns;
  for (const std::string_view point : stop_points) {
    SCOPED_TRACE(point);
    ++columns;
    const bool in_worker = point.rfind("worker.", 0) == 0;
    {
      const auto daemon = start({"--stop-point=" + std::string(point)});
      const RunResult cut = run(*daemon->stub(), ramp_request(4, columns, v1::POLICY_WAIT));
      if (in_worker) {
        // Another worker went on, or the call says which death ended its tuning.
        const bool told = cut.status.error_message().find("signal Killed") != std::string::npos;
        EXPECT_TRUE(told || status_of(*daemon->stub()).counters().workers_restarted() >= 1)
            << "the point was not reached: " << cut.status.error_message();
        daemon->signal(SIGTERM);
        EXPECT_EQ(daemon->wait_for_exit(), 0) << "a worker's death must not be the daemon's";
      } else {
        EXPECT_FALSE(cut.status.ok());
        EXPECT_EQ(daemon->wait_for_exit(), 128 + SIGKILL) << "the point was not reached";
      }
    }
    expect_no_workers(point);
    const auto daemon = start();
    ASSERT_TRUE(daemon->ready()) << daemon->log();
    const auto stub = daemon->stub();
    expect_all_acknowledged(*stub, point);
    tune(*stub, columns);
    daemon->signal(SIGTERM);
    EXPECT_EQ(daemon->wait_for_exit(), 0);
  }
}

}  // namespace
}  // namespace normd
