// A daemon of a few lines, in this process, for tests of clients: it answers what the test tells it
// to. The fields are set before the first call.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "normd/v1/normd.grpc.pb.h"

namespace normd {

class FakeDaemon final : public v1::Normd::Service {
 public:
  std::function<grpc::Status(const v1::RunRequest&, v1::RunResponse*)> on_run;
  std::function<grpc::Status(const v1::TuneRequest&, grpc::ServerWriter<v1::TuneResponse>*)>
      on_tune;
  std::function<grpc::Status(const v1::ExplainRequest&, v1::ExplainResponse*)> on_explain;
  std::function<grpc::Status(const v1::ForgetRequest&, v1::ForgetResponse*)> on_forget;
  v1::GetStatusResponse status;
  std::atomic<int> runs = 0;
  std::string user_agent;  // of the last Run

  FakeDaemon() : directory_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directory(directory_);
  }
  ~FakeDaemon() override {
    stop();
    std::filesystem::remove_all(directory_);
  }

  std::string socket() const { return (directory_ / "normd.sock").string(); }

  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket(), grpc::InsecureServerCredentials());
    builder.SetMaxReceiveMessageSize(64 << 20);
    builder.SetMaxSendMessageSize(64 << 20);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void stop() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  grpc::Status Run(grpc::ServerContext* context, const v1::RunRequest* request,
                   v1::RunResponse* response) override {
    ++runs;
    const auto agent = context->client_metadata().find("user-agent");
    if (agent != context->client_metadata().end()) {
      user_agent.assign(agent->second.data(), agent->second.size());
    }
    return on_run(*request, response);
  }
  grpc::Status Tune(grpc::ServerContext*, const v1::TuneRequest* request,
                    grpc::ServerWriter<v1::TuneResponse>* writer) override {
    return on_tune(*request, writer);
  }
  grpc::Status Explain(grpc::ServerContext*, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    return on_explain(*request, response);
  }
  grpc::Status Forget(grpc::ServerContext*, const v1::ForgetRequest* request,
                      v1::ForgetResponse* response) override {
    return on_forget(*request, response);
  }
  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*,
                         v1::GetStatusResponse* response) override {
    *response = status;
    return grpc::Status::OK;
  }

 private:
  static std::string unique_name() {
    static std::atomic<int> count = 0;
    return "normd-fake-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  }

  std::filesystem::path directory_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace normd
