// Calls that wait for a tuning are cheap: they hold no thread, and nobody else waits for them.
#include <chrono>
#include <fstream>
#include <thread>

#include "daemon_process.h"

namespace normd {
namespace {

// As the system counts them.
int threads_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (file >> word && word != "Threads:") {
  }
  int threads = 0;
  file >> threads;
  return threads;
}

TEST(Waiting, a_thousand_calls_that_wait_hold_no_thread_and_keep_no_hit_waiting) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=60000"}});
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(2, 16)).status.ok());
  const int threads_before = threads_of(daemon.pid());
  grpc::CompletionQueue queue;
  struct Call {
    grpc::ClientContext context;
    v1::RunResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::RunResponse>> reader;
  };
  std::vector<std::unique_ptr<Call>> calls;
  const v1::RunRequest request = ramp_request(3, 4096, v1::POLICY_WAIT);
  for (int i = 0; i < 1000; ++i) {
    auto call = std::make_unique<Call>();
    call->reader = stub->AsyncRun(&call->context, request, &queue);
    call->reader->Finish(&call->response, &call->status, call.get());
    calls.push_back(std::move(call));
  }
  const auto watching = daemon.stub();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (status_of(*watching).devices(0).calls_waiting() < 900 &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(status_of(*watching).devices(0).calls_waiting(), 900);
  // gRPC adds a thread or two of its own under load, never one for each call.
  EXPECT_LE(threads_of(daemon.pid()), threads_before + 16);
  const RunResult other = run(*watching, ramp_request(2, 16));
  EXPECT_TRUE(other.status.ok());
  EXPECT_LE(other.response.daemon_ns(), 100'000'000);
  for (const auto& call : calls) call->context.TryCancel();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
  }
  // Whoever left holds nothing.
  while (status_of(*watching).devices(0).calls_waiting() > 1 &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LE(status_of(*watching).devices(0).calls_waiting(), 1);
}

}  // namespace
}  // namespace normd
