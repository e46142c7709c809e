#include "service/client/client.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/limits.h"
#include "tests/service/client/fake_daemon.h"

namespace normd {
namespace {

using std::chrono::milliseconds;

Array array_of(const std::vector<float>& values) {
  return {.dtype = DType::fp32,
          .elements = values.data(),
          .count = static_cast<std::int64_t>(values.size())};
}

// Gives x back as y, and ones as statistics.
grpc::Status echo(const v1::RunRequest& request, v1::RunResponse* response) {
  const std::vector<float> ones(static_cast<std::size_t>(request.problem().rows()), 1.0f);
  const std::string bytes(reinterpret_cast<const char*>(ones.data()), ones.size() * sizeof(float));
  if (request.problem().want_mean()) response->set_mean(bytes);
  if (request.problem().want_rstd()) response->set_rstd(bytes);
  response->set_y(request.x());
  response->set_origin(v1::ORIGIN_MEMORY);
  response->set_candidate("block_registers threads=256");
  response->set_kernel_ns(12'345);
  return grpc::Status::OK;
}

TEST(Client, it_names_its_process_so_that_the_daemon_can_be_fair) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client) << client.error().message;
  const std::vector<float> x = {1, 2};
  ASSERT_TRUE(client->run({.rows = 1, .columns = 2, .x = array_of(x)}));
  EXPECT_TRUE(daemon.user_agent.starts_with("normd/" + std::to_string(getpid()) + " "))
      << daemon.user_agent;
}

TEST(Client, a_run_carries_every_field_there_and_back) {
  FakeDaemon daemon;
  v1::RunRequest seen;
  daemon.on_run = [&](const v1::RunRequest& request, v1::RunResponse* response) {
    seen = request;
    return echo(request, response);
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client) << client.error().message;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> gamma = {1, 2, 3};
  const Result<RunAnswer> answer = client->run({.rows = 2,
                                                .columns = 3,
                                                .x = array_of(x),
                                                .gamma = array_of(gamma),
                                                .want_mean = true,
                                                .epsilon = 1e-3f,
                                                .policy = v1::POLICY_WAIT,
                                                .bucket_mode = BucketMode::batch_invariant,
                                                .device = "GPU-7"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(seen.problem().rows(), 2);
  EXPECT_EQ(seen.problem().columns(), 3);
  EXPECT_EQ(seen.problem().x_dtype(), v1::DTYPE_FP32);
  EXPECT_EQ(seen.problem().y_dtype(), v1::DTYPE_FP32);
  EXPECT_EQ(seen.problem().gamma_dtype(), v1::DTYPE_FP32);
  EXPECT_EQ(seen.problem().beta_dtype(), v1::DTYPE_UNSPECIFIED);
  EXPECT_TRUE(seen.problem().want_mean());
  EXPECT_FALSE(seen.problem().want_rstd());
  EXPECT_EQ(seen.epsilon(), 1e-3f);
  EXPECT_EQ(seen.policy(), v1::POLICY_WAIT);
  EXPECT_EQ(seen.bucket_mode(), v1::BUCKET_MODE_BATCH_INVARIANT);
  EXPECT_EQ(seen.device(), "GPU-7");
  EXPECT_EQ(seen.gamma().size(), 12u);
  EXPECT_EQ(answer->y.size(), 24u);
  EXPECT_EQ(answer->mean, (std::vector<float>{1, 1}));
  EXPECT_TRUE(answer->rstd.empty());
  EXPECT_EQ(answer->origin, v1::ORIGIN_MEMORY);
  EXPECT_EQ(answer->kernel_ns, 12'345);
}

TEST(Client, an_epsilon_of_zero_is_sent_as_zero) {
  FakeDaemon daemon;
  bool present = false;
  daemon.on_run = [&](const v1::RunRequest& request, v1::RunResponse* response) {
    present = request.has_epsilon() && request.epsilon() == 0;
    return echo(request, response);
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x = {1};
  ASSERT_TRUE(client->run({.rows = 1, .columns = 1, .x = array_of(x), .epsilon = 0}));
  EXPECT_TRUE(present);
}

TEST(Client, no_rows_are_a_question_too) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const Result<RunAnswer> answer = client->run({.rows = 0, .columns = 1024});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->y.empty());
}

TEST(Client, an_answer_of_the_wrong_size_is_an_error) {
  FakeDaemon daemon;
  daemon.on_run = [](const v1::RunRequest&, v1::RunResponse* response) {
    response->set_y("short");
    return grpc::Status::OK;
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x = {1, 2};
  const Result<RunAnswer> answer = client->run({.rows = 1, .columns = 2, .x = array_of(x)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::internal);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(client->run({.rows = huge, .columns = huge, .x = array_of(x)}));
}

TEST(Client, tensors_beyond_a_message_are_refused_unsent_naming_the_limit) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x(16);
  Array too_large = array_of(x);
  too_large.count = limits::message_bytes_max / 4 + 1;  // never read
  const Result<RunAnswer> answer =
      client->run({.rows = 1, .columns = too_large.count, .x = too_large});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(answer.error().message.find("message_bytes_max"), std::string::npos);
  EXPECT_EQ(daemon.runs, 0);
}

TEST(Client, messages_beyond_grpcs_own_limit_of_4_mib_pass) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  for (const std::int64_t columns : {1023, 1024, 1025}) {
    const std::vector<float> x(static_cast<std::size_t>(1024 * columns));
    const Result<RunAnswer> answer =
        client->run({.rows = 1024, .columns = columns, .x = array_of(x)});
    ASSERT_TRUE(answer) << columns << ": " << answer.error().message;
    EXPECT_EQ(answer->y.size(), x.size() * sizeof(float));
  }
}

TEST(Client, a_call_gives_up_at_its_deadline) {
  FakeDaemon daemon;
  daemon.on_run = [](const v1::RunRequest& request, v1::RunResponse* response) {
    std::this_thread::sleep_for(milliseconds(300));
    return echo(request, response);
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x = {1};
  const Result<RunAnswer> answer =
      client->run({.rows = 1, .columns = 1, .x = array_of(x), .deadline = milliseconds(50)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::deadline_exceeded);
}

TEST(Client, an_unavailable_daemon_is_asked_again_for_an_idempotent_call_only) {
  FakeDaemon daemon;
  daemon.on_run = [&](const v1::RunRequest& request, v1::RunResponse* response) {
    if (daemon.runs < 3) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "starting");
    return echo(request, response);
  };
  int forgets = 0;
  daemon.on_forget = [&](const v1::ForgetRequest&, v1::ForgetResponse*) {
    ++forgets;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "starting");
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x = {1};
  ASSERT_TRUE(client->run({.rows = 1, .columns = 1, .x = array_of(x)}));
  EXPECT_EQ(daemon.runs, 3);
  const auto forgotten = client->forget("key");
  ASSERT_FALSE(forgotten);
  EXPECT_EQ(forgotten.error().code, ErrorCode::unavailable);
  EXPECT_EQ(forgets, 1);
}

TEST(Client, a_large_call_is_retried_too) {
  FakeDaemon daemon;
  daemon.on_run = [&](const v1::RunRequest& request, v1::RunResponse* response) {
    if (daemon.runs < 2) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "starting");
    return echo(request, response);
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x(std::size_t{4} << 20);
  const Result<RunAnswer> answer =
      client->run({.rows = 1, .columns = static_cast<std::int64_t>(x.size()), .x = array_of(x)});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(daemon.runs, 2);
}

TEST(Client, a_restarted_daemon_is_found_again_within_a_second) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  const std::vector<float> x = {1};
  ASSERT_TRUE(client->run({.rows = 1, .columns = 1, .x = array_of(x)}));
  daemon.stop();
  EXPECT_FALSE(client->run({.rows = 1, .columns = 1, .x = array_of(x)}));
  daemon.start();
  const auto begin = std::chrono::steady_clock::now();
  bool answered = false;
  while (!answered && std::chrono::steady_clock::now() - begin < std::chrono::seconds(3)) {
    answered = client->run({.rows = 1, .columns = 1, .x = array_of(x)}).has_value();
  }
  EXPECT_TRUE(answered);
}

TEST(Client, a_daemon_that_starts_later_can_be_waited_for) {
  FakeDaemon daemon;
  daemon.on_run = echo;
  std::jthread starter([&] {
    std::this_thread::sleep_for(milliseconds(200));
    daemon.start();
  });
  EXPECT_FALSE(Client::connect(daemon.socket()));
  EXPECT_TRUE(Client::connect(daemon.socket(), {.connect_ms = 10'000, .wait_for_start = true}));
}

TEST(Client, a_tuning_streams_progress_and_ends_with_the_winner) {
  FakeDaemon daemon;
  daemon.on_tune = [](const v1::TuneRequest&, grpc::ServerWriter<v1::TuneResponse>* writer) {
    v1::TuneResponse response;
    response.mutable_progress()->set_stage("racing");
    writer->Write(response);
    response.set_done(true);
    response.mutable_winner()->set_candidate("sub_warp lanes=8");
    writer->Write(response);
    return grpc::Status::OK;
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  int steps = 0;
  const auto response = client->tune({}, [&](const v1::TuneProgress& progress) {
    EXPECT_EQ(progress.stage(), "racing");
    ++steps;
  });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->winner().candidate(), "sub_warp lanes=8");
  EXPECT_EQ(steps, 2);
}

TEST(Client, a_stream_that_ends_without_a_result_is_an_error) {
  FakeDaemon daemon;
  daemon.on_tune = [](const v1::TuneRequest&, grpc::ServerWriter<v1::TuneResponse>*) {
    return grpc::Status::OK;
  };
  daemon.start();
  Result<Client> client = Client::connect(daemon.socket());
  ASSERT_TRUE(client);
  EXPECT_FALSE(client->tune({}, nullptr));
}

}  // namespace
}  // namespace normd
