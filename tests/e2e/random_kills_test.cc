// SIGKILL at random moments of tunings, to the daemon or to one of its workers. A worker's death is
// not the daemon's, and the next tuning works. After the daemon's the store is sound, every winner
// that it acknowledged is there as it was, and no process is left. Twelve kills; a thousand with
// NORMD_TEST_LONG=1.
#include <csignal>
#include <future>
#include <random>
#include <thread>

#include "kill_test.h"
#include "tests/kernels/catalog_samples.h"

namespace normd {
namespace {

constexpr std::int64_t first_columns = 300;
constexpr int longest_wait_ms = 1500;  // into a tuning, which takes about a second
constexpr int looked_at = 5;           // winners after each start; all of them in the end

class RandomKills : public KillTest {
 protected:
  int up_to(int limit) { return std::uniform_int_distribution<int>(0, limit)(random_); }

  void expect_some_acknowledged(v1::Normd::Stub& stub, std::string_view when) {
    for (int i = 0; i < looked_at && !acknowledged_.empty(); ++i) {
      const auto any =
          std::next(acknowledged_.begin(), up_to(static_cast<int>(acknowledged_.size()) - 1));
      ASSERT_NO_FATAL_FAILURE(expect_acknowledged(stub, any->first, when));
    }
  }

  // Whether the daemon still runs.
  bool kill_in_a_tuning(DaemonProcess& daemon, std::int64_t columns) {
    const auto stub = daemon.stub();
    auto asked = std::async(std::launch::async,
                            [&] { return run(*stub, ramp_request(4, columns, v1::POLICY_WAIT)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(up_to(longest_wait_ms)));
    const std::vector<pid_t> workers = workers_alive();
    const bool daemon_lives = !workers.empty() && up_to(1) == 0;
    if (daemon_lives) {
      ::kill(workers[static_cast<std::size_t>(up_to(static_cast<int>(workers.size()) - 1))],
             SIGKILL);
      ++workers_killed_;
    } else {
      daemon.signal(SIGKILL);
      ++daemons_killed_;
    }
    const RunResult result = asked.get();
    if (result.status.ok()) acknowledge(result, columns);
    if (daemon_lives && !result.status.ok()) {
      // The call says whose death ended its tuning, and the next works.
      EXPECT_NE(result.status.error_message().find("signal Killed"), std::string::npos)
          << result.status.error_message();
      tune(*stub, columns);
    }
    return daemon_lives;
  }

  std::mt19937 random_{announced_seed()};
  int workers_killed_ = 0;
  int daemons_killed_ = 0;
};

TEST_F(RandomKills, lose_no_acknowledged_winner_and_leave_no_process) {
  const int kills = long_run() ? 1000 : 12;
  std::int64_t columns = first_columns;
  while (workers_killed_ + daemons_killed_ < kills) {
    const auto daemon = start();
    ASSERT_TRUE(daemon->ready()) << daemon->log();
    ASSERT_NO_FATAL_FAILURE(expect_some_acknowledged(*daemon->stub(), "after a start"));
    bool daemon_lives = true;
    while (daemon_lives && workers_killed_ + daemons_killed_ < kills) {
      daemon_lives = kill_in_a_tuning(*daemon, ++columns);
      ASSERT_FALSE(HasFatalFailure()) << columns;
    }
    if (daemon_lives) daemon->signal(SIGTERM);
    EXPECT_EQ(daemon->wait_for_exit(), daemon_lives ? 0 : 128 + SIGKILL);
    expect_no_workers("after " + std::to_string(columns));
    ASSERT_NO_FATAL_FAILURE(expect_sound_store("after " + std::to_string(columns)));
  }
  const auto daemon = start();
  ASSERT_TRUE(daemon->ready()) << daemon->log();
  expect_all_acknowledged(*daemon->stub(), "in the end");
  std::printf("%d daemons and %d workers killed, %zu winners acknowledged\n", daemons_killed_,
              workers_killed_, acknowledged_.size());
  EXPECT_GT(daemons_killed_, 0);
  EXPECT_FALSE(acknowledged_.empty());
}

}  // namespace
}  // namespace normd
