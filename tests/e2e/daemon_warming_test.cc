// --warm: the listed shapes are tuned, or found to have none, before the daemon says that it
// serves; and a stop does not wait for them.
#include <csignal>
#include <fstream>
#include <thread>

#include "daemon_process.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

class Warming : public testing::Test {
 protected:
  std::unique_ptr<DaemonProcess> start(const std::string& shapes, DaemonOptions options = {}) {
    const std::string list = directory_.path() + "/shapes";
    std::ofstream(list) << shapes;
    options.flags.push_back("--warm=" + list);
    return std::make_unique<DaemonProcess>(directory_.path(), options);
  }

  TestDirectory directory_;
};

grpc::health::v1::HealthCheckResponse::ServingStatus health_of(const DaemonProcess& daemon) {
  const auto stub = grpc::health::v1::Health::NewStub(daemon.channel());
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + 20s);
  grpc::health::v1::HealthCheckResponse response;
  EXPECT_TRUE(stub->Check(&context, {}, &response).ok());
  return response.status();
}

TEST_F(Warming, shapes_that_are_missing_are_tuned_before_it_is_ready) {
  const auto daemon =
      start("4x100 fp32\n4x120 fp32\n4x100 fp32\n", {.flags = {"--tuning-budget-ms=300"}});
  ASSERT_TRUE(daemon->ready()) << daemon->log();
  const auto stub = daemon->stub();
  for (const int columns : {100, 120}) {
    const RunResult result = run(*stub, ramp_request(4, columns, v1::POLICY_FAIL));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message() << daemon->log();
    EXPECT_EQ(result.response.origin(), v1::ORIGIN_MEMORY);
  }
  EXPECT_EQ(status_of(*stub).counters().tunings(), 2);
  EXPECT_EQ(health_of(*daemon), grpc::health::v1::HealthCheckResponse::SERVING);
}

TEST_F(Warming, one_that_cannot_be_tuned_is_logged_and_does_not_stop_the_start) {
  const auto daemon = start("4x100 fp32\n", {.shell_prefix = "export PATH=/nonexistent;"});
  ASSERT_TRUE(daemon->ready()) << daemon->log();
  EXPECT_NE(daemon->log().find("not_warmed key=\"layer_norm rows="), std::string::npos)
      << daemon->log();
  expect_ramp(run(*daemon->stub(), ramp_request(4, 100)).response, 4, 100);
}

TEST_F(Warming, while_it_warms_it_answers_but_is_not_healthy_and_a_stop_ends_it_at_once) {
  const auto daemon = start("64x4096 fp32\n64x4000 fp32\n",
                            {.flags = {"--tuning-budget-ms=60000"}, .wait_until_ready = false});
  const auto stub = daemon->stub();
  while (status_of(*stub).devices(0).tunings_running() == 0) std::this_thread::sleep_for(5ms);
  expect_ramp(run(*stub, ramp_request(2, 8)).response, 2, 8);
  EXPECT_EQ(health_of(*daemon), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(status_of(*stub).health(), "NOT_SERVING");
  const auto begun = std::chrono::steady_clock::now();
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->wait_for_exit(), 0) << daemon->log();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s) << daemon->log();
  EXPECT_EQ(daemon->log().find(" serving "), std::string::npos) << daemon->log();
}

}  // namespace
}  // namespace normd
