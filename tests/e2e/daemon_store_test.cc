// A store that another process holds, or that cannot be written, delays no answer, and the log says
// once that it is so and once that it is over.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <thread>

#include "daemon_process.h"
#include "tuner/store/engine.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

int count_in(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

TEST(StoreHeld, fallback_answers_at_once_and_the_log_tells_the_change) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path());
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(2, 8)).status.ok());
  const int turn = ::open((directory.path() + "/store/normd.db.turn").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(turn, 0);
  ASSERT_EQ(::flock(turn, LOCK_EX), 0);
  // A writer waits five seconds for its turn, and a tuning of each new shape writes.
  const auto begun = std::chrono::steady_clock::now();
  std::int64_t longest_ns = 0;
  for (int columns = 2000; std::chrono::steady_clock::now() - begun < 30s; ++columns) {
    const RunResult result = run(*stub, ramp_request(2, columns));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    longest_ns = std::max(longest_ns, result.response.daemon_ns());
    if (count_in(daemon.log(), "store_degraded") > 0) break;
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_GT(std::chrono::steady_clock::now() - begun, 4s) << "nobody waited for the store";
  // Some milliseconds, but compilers and the test share few cores with the daemon.
  EXPECT_LT(longest_ns, 500'000'000);
  ::close(turn);
  for (int i = 0; i < 300 && count_in(daemon.log(), "store_persistent") == 0; ++i) {
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_EQ(count_in(daemon.log(), "store_degraded"), 1) << daemon.log();
  EXPECT_EQ(count_in(daemon.log(), "store_persistent"), 1) << daemon.log();
}

TEST(Log, a_sqlite_with_the_log_reset_bug_is_named_once_at_the_start) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path());
  ASSERT_TRUE(daemon.ready());
  EXPECT_EQ(count_in(daemon.log(), "store_engine note=\"SQLite "), engine_note().empty() ? 0 : 1);
}

TEST(Log, each_tuning_is_told_with_its_key_and_its_winner_or_the_reason) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=300"}});
  const auto stub = daemon.stub();
  const RunResult waited = run(*stub, ramp_request(4, 100, v1::POLICY_WAIT));
  ASSERT_TRUE(waited.status.ok());
  EXPECT_NE(daemon.log().find("info tuning key=\"" + waited.response.key() + "\" elapsed_ms="),
            std::string::npos)
      << daemon.log();
  EXPECT_NE(daemon.log().find("winner=\"" + waited.response.candidate() + "\" from=race"),
            std::string::npos)
      << daemon.log();
}

}  // namespace
}  // namespace normd
