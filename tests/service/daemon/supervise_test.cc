#include "service/daemon/supervise.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "service/daemon/exit_code.h"

namespace normd {
namespace {

int supervise_shell(const std::string& script) {
  const Log log(LogLevel::off, LogFormat::text);
  return supervise({"/bin/sh", "-c", script}, log);
}

TEST(Supervise, a_daemon_that_fails_is_started_again) {
  const std::string path = testing::TempDir() + "normd_supervise_test";
  std::filesystem::remove(path);
  // Fails twice (once by a signal), then stops well.
  const std::string script = "echo >> " + path + "; case $(wc -l < " + path +
                             ") in 1) exit 6;; 2) kill -9 $$;; *) exit 0;; esac";
  EXPECT_EQ(supervise_shell(script), 0);
  std::ifstream file(path);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(file), {}, '\n'), 3);
  std::filesystem::remove(path);
}

TEST(Supervise, what_a_person_must_repair_is_not_tried_again) {
  EXPECT_EQ(supervise_shell("exit 2"), 2);
  EXPECT_EQ(supervise_shell("exit 3"), 3);
  EXPECT_EQ(supervise_shell("exit 4"), 4);
  EXPECT_EQ(supervise_shell("exit 5"), 5);
}

TEST(Supervise, a_stop_signal_is_passed_on) {
  // The script asks its parent, the supervisor, to stop, and ends when it is told to.
  EXPECT_EQ(supervise_shell("trap 'exit 0' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"),
            0);
}

TEST(Supervise, the_delay_doubles_up_to_a_bound) {
  EXPECT_EQ(restart_delay(1).count(), 200);
  EXPECT_EQ(restart_delay(2).count(), 400);
  EXPECT_EQ(restart_delay(1000).count(), 5000);
  EXPECT_TRUE(worth_restarting(static_cast<int>(ExitCode::device_lost)));
  EXPECT_FALSE(worth_restarting(static_cast<int>(ExitCode::stopped)));
}

}  // namespace
}  // namespace normd
