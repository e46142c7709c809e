// One daemon with two devices: each answers by its own kernels, and tunings of both go on at once.
#include <thread>

#include "held_compilation.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

v1::RunRequest request_to(const std::string& device, v1::Policy policy) {
  v1::RunRequest request = ramp_request(4, 100, policy);
  request.set_device(device);
  return request;
}

class TwoDevices : public testing::Test {
 protected:
  const TestDirectory directory_;
  const HeldCompilation held_;
  // Beside `host`, which is the first.
  const DaemonProcess daemon_{directory_.path(),
                              {.flags = {"--devices=host:sm_90", "--tuning-budget-ms=3000"},
                               .shell_prefix = held_.shell_prefix()}};
  const std::unique_ptr<v1::Normd::Stub> stub_ = daemon_.stub();
};

TEST_F(TwoDevices, each_answers_with_a_winner_of_its_own) {
  ASSERT_EQ(status_of(*stub_).devices_size(), 2);
  std::string keys[2];
  for (int device = 0; device < 2; ++device) {
    const RunResult result = run(*stub_, request_to(std::to_string(device), v1::POLICY_WAIT));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    EXPECT_EQ(result.response.origin(), v1::ORIGIN_TUNED) << "not another device's";
    expect_ramp(result.response, 4, 100);
    keys[device] = result.response.key();
    EXPECT_NE(keys[device].find(status_of(*stub_).devices(device).fingerprint()),
              std::string::npos);
  }
  EXPECT_NE(keys[0], keys[1]) << "they are no like devices";
  EXPECT_EQ(status_of(*stub_).store().winners(), 2);
}

TEST_F(TwoDevices, tunings_of_both_go_on_at_once_and_hits_too) {
  const RunResult tuned = run(*stub_, ramp_request(2, 16, v1::POLICY_WAIT));
  ASSERT_TRUE(tuned.status.ok()) << tuned.status.error_message();
  held_.hold();
  for (const char* device : {"0", "1"}) {
    const RunResult result = run(*stub_, request_to(device, v1::POLICY_FALLBACK));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    EXPECT_EQ(result.response.origin(), v1::ORIGIN_FALLBACK);
  }
  const auto running = [&] {
    const auto status = status_of(*stub_);
    return status.devices(0).tunings_running() + status.devices(1).tunings_running();
  };
  for (int i = 0; i < 500 && running() < 2; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(running(), 2);
  EXPECT_EQ(run(*stub_, ramp_request(2, 16)).response.origin(), v1::ORIGIN_MEMORY);
  held_.release();
  for (const char* device : {"0", "1"}) {
    const RunResult result = run(*stub_, request_to(device, v1::POLICY_WAIT));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  }
  EXPECT_EQ(status_of(*stub_).counters().tunings(), 3);
}

TEST_F(TwoDevices, a_device_that_is_not_there_is_refused_by_name) {
  const RunResult result = run(*stub_, request_to("2", v1::POLICY_FALLBACK));
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(field_at_fault(result.status), "device");
}

}  // namespace
}  // namespace normd
