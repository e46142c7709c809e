// What clients are promised of answers: where they come from, that they are right, and that bad
// requests harm nobody.
#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "daemon_process.h"

namespace normd {
namespace {

class Serving : public testing::Test {
 protected:
  void start(const std::vector<std::string>& flags = {}) {
    daemon_.reset();
    daemon_ = std::make_unique<DaemonProcess>(directory_.path(), DaemonOptions{.flags = flags});
    stub_ = daemon_->stub();
  }

  TestDirectory directory_;
  std::unique_ptr<DaemonProcess> daemon_;
  std::unique_ptr<v1::Normd::Stub> stub_;
};

TEST_F(Serving, an_untuned_shape_is_answered_by_the_fallback_then_from_memory_then_from_the_store) {
  start();
  RunResult first = run(*stub_, ramp_request(4, 100));
  ASSERT_TRUE(first.status.ok()) << first.status.error_message();
  EXPECT_EQ(first.response.origin(), v1::ORIGIN_FALLBACK);
  EXPECT_EQ(first.response.device(), "host");
  expect_ramp(first.response, 4, 100);

  RunResult waited = run(*stub_, ramp_request(4, 100, v1::POLICY_WAIT));
  ASSERT_TRUE(waited.status.ok()) << waited.status.error_message();
  expect_ramp(waited.response, 4, 100);
  RunResult hit = run(*stub_, ramp_request(4, 100));
  EXPECT_EQ(hit.response.origin(), v1::ORIGIN_MEMORY);
  expect_ramp(hit.response, 4, 100);
  const auto before = status_of(*stub_);
  EXPECT_EQ(before.counters().tunings(), 1);
  EXPECT_EQ(before.counters().compiles_on_request_path(), 0);
  daemon_->signal(SIGTERM);
  EXPECT_EQ(daemon_->wait_for_exit(), 0);

  start();
  RunResult stored = run(*stub_, ramp_request(4, 100, v1::POLICY_FAIL));
  ASSERT_TRUE(stored.status.ok()) << stored.status.error_message();
  EXPECT_EQ(stored.response.origin(), v1::ORIGIN_STORE);
  EXPECT_EQ(stored.response.candidate(), hit.response.candidate());
  EXPECT_EQ(stored.response.y(), hit.response.y());
  const auto after = status_of(*stub_);
  EXPECT_EQ(after.counters().tunings(), 0);
  EXPECT_EQ(after.counters().compiles(), 0);
}

TEST_F(Serving, a_winner_that_was_listed_for_warming_is_in_memory_from_the_start) {
  start();
  ASSERT_TRUE(run(*stub_, ramp_request(4, 100, v1::POLICY_WAIT)).status.ok());
  const std::string list = directory_.path() + "/shapes";
  std::ofstream(list) << "# shapes\n4x100 fp32\n";
  daemon_->signal(SIGTERM);
  ASSERT_EQ(daemon_->wait_for_exit(), 0);
  start({"--warm=" + list});
  EXPECT_EQ(run(*stub_, ramp_request(4, 100, v1::POLICY_FAIL)).response.origin(),
            v1::ORIGIN_MEMORY);
}

TEST_F(Serving, with_policy_fail_an_untuned_shape_is_an_error) {
  start();
  const RunResult result = run(*stub_, ramp_request(4, 100, v1::POLICY_FAIL));
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status_of(*stub_).counters().tunings(), 0);
}

TEST_F(Serving, a_deadline_ends_the_waiting_and_not_the_tuning) {
  start({"--tuning-budget-ms=3000"});
  const auto begun = std::chrono::steady_clock::now();
  const RunResult result =
      run(*stub_, ramp_request(4, 100, v1::POLICY_WAIT), std::chrono::milliseconds(20));
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  const RunResult later = run(*stub_, ramp_request(4, 100, v1::POLICY_WAIT));
  ASSERT_TRUE(later.status.ok()) << later.status.error_message();
  EXPECT_EQ(status_of(*stub_).counters().tunings(), 1);
}

TEST_F(Serving, no_rows_give_an_empty_answer_and_the_next_request_is_fine) {
  start();
  v1::RunRequest empty = ramp_request(0, 1024);
  empty.mutable_problem()->set_want_mean(true);
  const RunResult none = run(*stub_, empty);
  ASSERT_TRUE(none.status.ok()) << none.status.error_message();
  EXPECT_EQ(none.response.origin(), v1::ORIGIN_NONE);
  EXPECT_TRUE(none.response.y().empty());
  EXPECT_TRUE(none.response.mean().empty());
  EXPECT_EQ(field_at_fault(run(*stub_, ramp_request(5, 0)).status), "problem.columns");
  EXPECT_EQ(field_at_fault(run(*stub_, ramp_request(0, 0)).status), "problem.columns");
  expect_ramp(run(*stub_, ramp_request(4, 8)).response, 4, 8);
}

TEST_F(Serving, an_unknown_template_is_refused_before_anything_waits_for_it) {
  start({"--tuning-budget-ms=60000"});
  ASSERT_TRUE(run(*stub_, ramp_request(2, 8)).status.ok());  // its tuning keeps the queue busy
  v1::TuneRequest request;
  request.mutable_problem()->set_rows(4);
  request.mutable_problem()->set_columns(100);
  request.mutable_problem()->set_x_dtype(v1::DTYPE_FP32);
  request.set_template_name("no_such_template");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto stream = stub_->Tune(&context, request);
  v1::TuneResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(field_at_fault(status), "template_name");
  EXPECT_EQ(status_of(*stub_).devices(0).tunings_queued(), 0);
}

TEST_F(Serving, bad_requests_name_their_field_and_launch_nothing) {
  start();
  const std::vector<std::pair<std::function<void(v1::RunRequest&)>, std::string>> cases = {
      {[](auto& r) { r.mutable_problem()->set_columns(1L << 40); }, "problem.columns"},
      {[](auto& r) { r.mutable_problem()->set_rows(-1); }, "problem.rows"},
      {[](auto& r) { r.mutable_problem()->set_x_dtype(v1::DTYPE_FP8_E4M3); }, "problem.x_dtype"},
      {[](auto& r) { r.mutable_problem()->set_x_row_stride(3); }, "problem.x_row_stride"},
      {[](auto& r) { r.set_epsilon(-1); }, "epsilon"},
      {[](auto& r) { r.set_epsilon(NAN); }, "epsilon"},
      {[](auto& r) { r.set_policy(static_cast<v1::Policy>(9)); }, "policy"},
      {[](auto& r) { r.set_bucket_mode(static_cast<v1::BucketMode>(9)); }, "bucket_mode"},
      {[](auto& r) { r.set_device("GPU-none"); }, "device"},
      {[](auto& r) { r.mutable_x()->pop_back(); }, "x"},
      {[](auto& r) { r.set_beta("b"); }, "beta"}};
  for (const auto& [spoil, field] : cases) {
    v1::RunRequest request = ramp_request(4, 100);
    spoil(request);
    const RunResult result = run(*stub_, request);
    EXPECT_FALSE(result.status.ok()) << field;
    EXPECT_EQ(field_at_fault(result.status), field) << result.status.error_message();
  }
  const auto status = status_of(*stub_);
  EXPECT_EQ(status.counters().runs(), 0);
  EXPECT_EQ(status.counters().runs_refused(), static_cast<std::int64_t>(cases.size()));
  expect_ramp(run(*stub_, ramp_request(4, 8)).response, 4, 8);
}

TEST_F(Serving, tensors_over_the_limit_are_refused_by_its_name_and_those_at_it_are_not) {
  start();
  const RunResult refused = run(*stub_, ramp_request(1024 + 16, 16 * 1024));  // 65 MiB
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  for (const std::int64_t columns : {1023, 1024, 1025}) {  // around gRPC's own 4 MiB
    const RunResult result = run(*stub_, ramp_request(1024, columns));
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    expect_ramp(result.response, 1024, columns);
  }
}

TEST_F(Serving, a_padded_x_gives_a_dense_y) {
  start();
  v1::RunRequest request = ramp_request(4, 16);
  request.mutable_problem()->set_columns(8);
  request.mutable_problem()->set_x_row_stride(16);
  request.mutable_x()->resize((3 * 16 + 8) * sizeof(float));
  const RunResult result = run(*stub_, request);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  expect_ramp(result.response, 4, 8);
}

TEST_F(Serving, tuning_streams_progress_and_ends_with_the_winner) {
  start();
  v1::TuneRequest request;
  *request.mutable_problem() = ramp_request(4, 64).problem();
  grpc::ClientContext context;
  const auto reader = stub_->Tune(&context, request);
  v1::TuneResponse message;
  int messages = 0;
  while (reader->Read(&message)) ++messages;
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_GE(messages, 1);
  EXPECT_TRUE(message.done());
  EXPECT_EQ(message.origin(), v1::ORIGIN_TUNED);
  EXPECT_FALSE(message.winner().candidate().empty());
  EXPECT_GE(message.trials_size(), 1);
  EXPECT_EQ(run(*stub_, ramp_request(4, 64)).response.origin(), v1::ORIGIN_MEMORY);

  grpc::ClientContext list_context;
  v1::ListWinnersResponse winners;
  ASSERT_TRUE(stub_->ListWinners(&list_context, {}, &winners).ok());
  ASSERT_EQ(winners.winners_size(), 1);

  grpc::ClientContext explain_context;
  v1::ExplainRequest explain;
  *explain.mutable_problem() = ramp_request(4, 65).problem();
  v1::ExplainResponse explained;
  ASSERT_TRUE(stub_->Explain(&explain_context, explain, &explained).ok());
  EXPECT_EQ(explained.origin(), v1::ORIGIN_FALLBACK);
  EXPECT_EQ(explained.nearest_key(), winners.winners(0).key());
  ASSERT_EQ(explained.differing_fields_size(), 1);
  EXPECT_EQ(explained.differing_fields(0), "columns: 65, stored 64");

  grpc::ClientContext forget_context;
  v1::ForgetRequest forget;
  forget.set_key(winners.winners(0).key());
  v1::ForgetResponse forgotten;
  ASSERT_TRUE(stub_->Forget(&forget_context, forget, &forgotten).ok());
  EXPECT_GE(forgotten.rows_removed(), 1);
  EXPECT_EQ(run(*stub_, ramp_request(4, 64, v1::POLICY_FAIL)).status.error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace normd
