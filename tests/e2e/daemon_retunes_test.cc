// Winners that were found with another driver, compiler or catalog, or that take another time now:
// they serve at once, and each is tuned again once behind them.
#include <csignal>
#include <thread>

#include "daemon_process.h"
#include "tuner/store/sqlite.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t columns = 40;

class Retunes : public testing::Test {
 protected:
  std::unique_ptr<DaemonProcess> start(std::vector<std::string> flags = {}) const {
    flags.push_back("--tuning-budget-ms=1000");
    return std::make_unique<DaemonProcess>(directory_.path(), DaemonOptions{.flags = flags});
  }
  static void stop(DaemonProcess& daemon) {
    daemon.signal(SIGTERM);
    ASSERT_EQ(daemon.wait_for_exit(), 0);
  }
  // A first daemon, gone again, has stored the winner.
  void tune_first() {
    const auto daemon = start();
    const RunResult tuned = run(*daemon->stub(), ramp_request(4, columns, v1::POLICY_WAIT));
    ASSERT_TRUE(tuned.status.ok()) << tuned.status.error_message();
    candidate_ = tuned.response.candidate();
    stop(*daemon);
  }
  std::string database() const { return directory_.path() + "/store/normd.db"; }
  void change_store(const char* sql) const {
    auto opened = Database::open(database(), OpenAs::writer);
    ASSERT_TRUE(opened && opened->execute(sql));
  }
  std::string ask_store(const char* sql) const {
    auto opened = Database::open(database(), OpenAs::reader);
    return opened ? opened->text(sql).value_or("?") : "?";
  }
  template <typename Reached>
  static bool soon(Reached reached) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!reached() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(20ms);
    return reached();
  }
  static v1::Counters counters_of(const DaemonProcess& daemon) {
    return status_of(*daemon.stub()).counters();
  }
  static bool is_quiet(const DaemonProcess& daemon) {
    const auto status = status_of(*daemon.stub());
    return status.devices(0).tunings_queued() + status.devices(0).tunings_running() == 0;
  }

  const TestDirectory directory_;
  std::string candidate_;
};

// What was found with something else, and the word for it in the log.
struct Changed {
  const char* name;
  const char* sql;
  const char* words;
};

class RetunesAfter : public Retunes, public testing::WithParamInterface<Changed> {};

TEST_P(RetunesAfter, the_winner_serves_from_the_store_and_is_tuned_once_behind) {
  tune_first();
  change_store(GetParam().sql);
  const auto daemon = start();
  const auto stub = daemon->stub();
  const RunResult first = run(*stub, ramp_request(4, columns, v1::POLICY_FAIL));
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  EXPECT_EQ(first.response.origin(), v1::ORIGIN_STORE);
  EXPECT_EQ(first.response.candidate(), candidate_);
  ASSERT_TRUE(soon([&] { return counters_of(*daemon).tunings() == 1; })) << daemon->log();
  while (!is_quiet(*daemon)) {
    const RunResult next = run(*stub, ramp_request(4, columns, v1::POLICY_FAIL));
    ASSERT_TRUE(next.status.ok()) << "the old winner serves: " << next.status.error_message();
    EXPECT_EQ(next.response.origin(), v1::ORIGIN_MEMORY);
    expect_ramp(next.response, 4, columns);
  }
  EXPECT_NE(daemon->log().find(GetParam().words), std::string::npos) << daemon->log();
  EXPECT_EQ(counters_of(*daemon).retunes(), 1);
  EXPECT_EQ(counters_of(*daemon).tunings(), 1);
  EXPECT_EQ(counters_of(*daemon).compiles_on_request_path(), 0);
  stop(*daemon);

  // What it found is of today: the next daemon has nothing to do.
  const auto next = start();
  EXPECT_EQ(run(*next->stub(), ramp_request(4, columns)).response.origin(), v1::ORIGIN_STORE);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(counters_of(*next).retunes(), 0) << next->log();
  EXPECT_EQ(counters_of(*next).tunings(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Changes, RetunesAfter,
    testing::Values(Changed{"driver", "UPDATE winner SET driver = '0.1'", "driver '0.1' -> 'none'"},
                    Changed{"compiler", "UPDATE winner SET compiler = 'NVRTC 1.0'",
                            "compiler 'NVRTC 1.0' -> '"},
                    Changed{"catalog", "UPDATE winner SET catalog_digest = '0123456789'",
                            "catalog 01234567 -> "},
                    Changed{
                        "version_1",
                        "ALTER TABLE winner DROP COLUMN catalog_digest; PRAGMA user_version = 1",
                        "catalog unknown -> "}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST_F(Retunes, without_a_compiler_the_winner_serves_and_nothing_is_tuned) {
  tune_first();
  change_store("UPDATE winner SET driver = '0.1'");
  // Where nothing can be written, nothing can be compiled.
  const DaemonProcess daemon(directory_.path(), {.shell_prefix = "export TMPDIR=/nonexistent;"});
  EXPECT_EQ(run(*daemon.stub(), ramp_request(4, columns)).response.origin(), v1::ORIGIN_STORE);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(status_of(*daemon.stub()).compiler().substr(0, 5), "none:");
  EXPECT_EQ(counters_of(daemon).retunes(), 0) << daemon.log();
  EXPECT_EQ(counters_of(daemon).tunings(), 0);
}

// A time that no kernel of this host can keep to, at every edge.
constexpr char forged[] =
    "WITH RECURSIVE cut(key, done, rest) AS (SELECT key, '', measurements FROM winner UNION ALL "
    "SELECT key, done || substr(rest, 1, instr(rest, ' median_ns=') - 1) || "
    "' median_ns=1 low_ns=1 high_ns=1 samples=9 copy_ns=1e6' || "
    "CASE instr(rest, char(10)) WHEN 0 THEN '' ELSE char(10) END, "
    "CASE instr(rest, char(10)) WHEN 0 THEN '' ELSE substr(rest, instr(rest, char(10)) + 1) END "
    "FROM cut WHERE rest <> '') "
    "UPDATE winner SET measurements = (SELECT done FROM cut WHERE cut.key = winner.key AND "
    "rest = '')";

TEST_F(Retunes, a_winner_that_takes_another_time_is_tuned_once_after_two_checks) {
  tune_first();
  change_store(forged);
  ASSERT_NE(ask_store("SELECT measurements FROM winner").find("median_ns=1 "), std::string::npos);
  const auto daemon = start({"--drift-check-s=1", "--log-level=debug"});
  const auto stub = daemon->stub();
  ASSERT_EQ(run(*stub, ramp_request(4, columns)).response.origin(), v1::ORIGIN_STORE);
  ASSERT_TRUE(soon([&] { return counters_of(*daemon).drift_checks() == 1; })) << daemon->log();
  EXPECT_EQ(counters_of(*daemon).retunes(), 0) << "seen once";
  ASSERT_TRUE(soon([&] { return counters_of(*daemon).retunes() == 1; })) << daemon->log();
  EXPECT_EQ(counters_of(*daemon).drift_checks(), 2);
  ASSERT_TRUE(soon([&] { return counters_of(*daemon).tunings() == 1 && is_quiet(*daemon); }));
  EXPECT_EQ(ask_store("SELECT measurements FROM winner").find("median_ns=1 "), std::string::npos);
  EXPECT_NE(daemon->log().find("0.000 -> "), std::string::npos) << daemon->log();
  const RunResult after = run(*stub, ramp_request(4, columns));
  expect_ramp(after.response, 4, columns);
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(counters_of(*daemon).retunes(), 1) << daemon->log();
  EXPECT_EQ(counters_of(*daemon).drift_checks(), 2) << "once per key and daemon life";
}

TEST_F(Retunes, on_the_host_device_nothing_is_checked_unasked_nor_while_requests_come) {
  tune_first();
  change_store(forged);
  for (const bool asked : {false, true}) {
    const auto daemon =
        start(asked ? std::vector<std::string>{"--drift-check-s=2"} : std::vector<std::string>{});
    const auto stub = daemon->stub();
    const auto until = std::chrono::steady_clock::now() + 5s;
    do {
      EXPECT_TRUE(run(*stub, ramp_request(4, columns)).status.ok());
      std::this_thread::sleep_for(asked ? 200ms : 5s);
    } while (std::chrono::steady_clock::now() < until);
    EXPECT_EQ(counters_of(*daemon).drift_checks(), 0) << daemon->log();
    stop(*daemon);
  }
}

}  // namespace
}  // namespace normd
