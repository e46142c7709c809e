#include "daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

extern char** environ;

namespace normd {
namespace {

std::string program() {
  const char* path = std::getenv("NORMD_PROGRAM");
  return path == nullptr ? "normd" : path;
}

std::string shell_quoted(const std::string& word) {
  return "'" + word + "'";
}

}  // namespace

TestDirectory::TestDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "normd_e2e_XXXXXX").string();
  EXPECT_NE(mkdtemp(path_.data()), nullptr) << std::strerror(errno);
}

TestDirectory::~TestDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

DaemonProcess::DaemonProcess(const std::string& directory, DaemonOptions options)
    : socket_(directory + "/s"), log_path_(directory + "/log") {
  std::string command = options.shell_prefix + " exec " + shell_quoted(program());
  for (const std::string& flag :
       {"--socket=" + socket_, "--store=" + directory + "/store", std::string("--devices=host")}) {
    command += " " + shell_quoted(flag);
  }
  for (const std::string& flag : options.flags) command += " " + shell_quoted(flag);
  int output[2];
  EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_path_.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  char shell[] = "/bin/bash", flag[] = "-c";
  char* arguments[] = {shell, flag, command.data(), nullptr};
  EXPECT_EQ(posix_spawn(&pid_, shell, &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  if (options.wait_until_ready) {
    wait_until_ready(output[0]);
    EXPECT_TRUE(ready()) << log();
  }
  close(output[0]);
}

DaemonProcess::~DaemonProcess() {
  if (exit_status_ >= 0) return;
  kill(pid_, SIGKILL);
  wait_for_exit();
}

void DaemonProcess::wait_until_ready(int output) {
  std::string line;
  char byte = 0;
  while (read(output, &byte, 1) == 1 && byte != '\n') line += byte;
  if (line.starts_with("normd ready")) ready_line_ = line;
}

void DaemonProcess::signal(int number) const {
  kill(pid_, number);
}

int DaemonProcess::wait_for_exit(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (exit_status_ < 0 && std::chrono::steady_clock::now() < until) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return exit_status_;
}

std::string DaemonProcess::log() const {
  std::ifstream file(log_path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<grpc::Channel> DaemonProcess::channel(const std::string& other) const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  return grpc::CreateCustomChannel(other.empty() ? target() : other,
                                   grpc::InsecureChannelCredentials(), arguments);
}

v1::RunRequest ramp_request(std::int64_t rows, std::int64_t columns, v1::Policy policy) {
  v1::RunRequest request;
  request.mutable_problem()->set_rows(rows);
  request.mutable_problem()->set_columns(columns);
  request.mutable_problem()->set_x_dtype(v1::DTYPE_FP32);
  request.set_policy(policy);
  std::vector<float> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(static_cast<std::int64_t>(i) % columns);
  }
  request.set_x(x.data(), x.size() * sizeof(float));
  return request;
}

void expect_ramp(const v1::RunResponse& response, std::int64_t rows, std::int64_t columns) {
  ASSERT_EQ(response.y().size(), static_cast<std::size_t>(rows * columns) * sizeof(float));
  std::vector<float> y(static_cast<std::size_t>(rows * columns));
  std::memcpy(y.data(), response.y().data(), response.y().size());
  const double n = static_cast<double>(columns);
  const double rstd = 1 / std::sqrt((n * n - 1) / 12 + double{1e-5f});
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double column = static_cast<double>(static_cast<std::int64_t>(i) % columns);
    ASSERT_NEAR(y[i], (column - (n - 1) / 2) * rstd, 1e-5) << "element " << i;
  }
}

RunResult run(v1::Normd::Stub& stub, const v1::RunRequest& request,
              std::chrono::milliseconds deadline) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  context.set_wait_for_ready(true);
  RunResult result;
  result.status = stub.Run(&context, request, &result.response);
  return result;
}

v1::GetStatusResponse status_of(v1::Normd::Stub& stub) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  context.set_wait_for_ready(true);
  v1::GetStatusResponse response;
  const auto status = stub.GetStatus(&context, {}, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

std::string field_at_fault(const grpc::Status& status) {
  google::rpc::Status message;
  google::rpc::BadRequest bad_request;
  if (!message.ParseFromString(status.error_details())) return {};
  for (const auto& detail : message.details()) {
    if (detail.UnpackTo(&bad_request) && bad_request.field_violations_size() > 0) {
      return bad_request.field_violations(0).field();
    }
  }
  return {};
}

}  // namespace normd
