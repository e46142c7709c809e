// The daemon, or a worker of it, is killed at every named point of a tuning. After a restart every
// acknowledged winner is there as it was, the interrupted key can be tuned, and no process is left.
#include <csignal>

#include "kill_test.h"
#include "tuner/stop_point.h"

namespace normd {
namespace {

constexpr std::int64_t first_columns = 200;  // the key that is tuned before anything is killed

using KillPoints = KillTest;

TEST_F(KillPoints, no_point_of_a_tuning_loses_a_winner_or_needs_a_hand) {
  {
    const auto daemon = start();
    tune(*daemon->stub(), first_columns);
    EXPECT_FALSE(workers_alive().empty()) << "or nothing below shows that none is left";
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
