// 64 processes ask at once for 8 keys that nobody has tuned: each key is tuned once, every answer
// is right, and requests for another, tuned key are served meanwhile.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>

#include "daemon_process.h"

extern char** environ;

namespace normd {
namespace {

constexpr int clients = 64;
constexpr int keys = 8;
constexpr std::int64_t first_columns = 300;
constexpr std::int64_t tuned_columns = 96;

pid_t spawn_client(const std::string& target, int number) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string text = std::to_string(first_columns + number % keys);
  const char* words[] = {self.c_str(), "client", target.c_str(), text.c_str(), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, self.c_str(), nullptr, nullptr, const_cast<char**>(words), environ),
            0);
  return pid;
}

// One client: exit status 10 + origin when its answer was right.
int client(const std::string& target, std::int64_t columns) {
  const auto stub =
      v1::Normd::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()));
  const RunResult result =
      run(*stub, ramp_request(4, columns, v1::POLICY_WAIT), std::chrono::minutes(4));
  if (!result.status.ok()) return 1;
  const auto* y = reinterpret_cast<const float*>(result.response.y().data());
  if (result.response.y().size() != 4 * static_cast<std::size_t>(columns) * sizeof(float)) return 2;
  // A ramp normalises to a line through zero: its ends are opposite, its middle is small.
  if (!(y[0] < -1.7f && y[0] > -1.74f && std::abs(y[0] + y[columns - 1]) < 1e-4f)) return 3;
  return 10 + static_cast<int>(result.response.origin());
}

TEST(many_clients, sixty_four_processes_cause_eight_tunings_and_disturb_no_hit) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=1000"}});
  ASSERT_TRUE(daemon.ready()) << daemon.log();
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(4, tuned_columns, v1::POLICY_WAIT)).status.ok());
  const std::int64_t tunings_before = status_of(*stub).counters().tunings();

  std::set<pid_t> running;
  for (int number = 0; number < clients; ++number)
    running.insert(spawn_client(daemon.target(), number));
  std::vector<double> hit_ms;
  int joined = 0, tuned = 0, wrong = 0;
  while (!running.empty()) {
    const RunResult hit = run(*stub, ramp_request(4, tuned_columns, v1::POLICY_FAIL));
    ASSERT_TRUE(hit.status.ok()) << hit.status.error_message();
    EXPECT_EQ(hit.response.origin(), v1::ORIGIN_MEMORY);
    // Only while somebody waits for a tuning.
    if (status_of(*stub).devices(0).tunings_running() > 0) {
      hit_ms.push_back(static_cast<double>(hit.response.daemon_ns()) / 1e6);
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended <= 0 || running.erase(ended) == 0) continue;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    wrong += code < 10;
    tuned += code == 10 + v1::ORIGIN_TUNED;
    joined += code == 10 + v1::ORIGIN_JOINED || code == 10 + v1::ORIGIN_MEMORY ||
              code == 10 + v1::ORIGIN_STORE;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tuned, keys);
  EXPECT_EQ(joined, clients - keys);
  EXPECT_EQ(status_of(*stub).counters().tunings() - tunings_before, keys);
  EXPECT_EQ(status_of(*stub).counters().compiles_on_request_path(), 0);

  ASSERT_GT(hit_ms.size(), 20u);
  std::sort(hit_ms.begin(), hit_ms.end());
  const double p99 = hit_ms[hit_ms.size() * 99 / 100];
  std::printf("%zu hits during tunings: daemon side median %.3f ms, p99 %.3f ms, largest %.3f ms\n",
              hit_ms.size(), hit_ms[hit_ms.size() / 2], p99, hit_ms.back());
  // The promise of 10 ms for a hit is for a machine with a core to spare: of it, 5 ms may go on a
  // measurement that holds the device. Here some 70 processes (clients, compilers, the trial
  // worker) want the two cores that a test machine may have, and now and then one of a hit's three
  // threads waits a few turns of the scheduler. That is one hit in hundreds, hence the 99th
  // percentile.
  EXPECT_LE(p99, 10);
  // No hit waits for a tuning, which takes its budget of 1000 ms, nor for a compilation.
  EXPECT_LE(hit_ms.back(), 500);
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "client")
    return normd::client(argv[2], std::stoll(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
