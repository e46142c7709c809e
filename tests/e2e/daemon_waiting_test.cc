// Calls that wait for a tuning are cheap: they hold no thread, and nobody else waits for them.
#include <algorithm>
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

// Compilers are at work the whole time, on two cores perhaps, so that a single hit says little.
constexpr int hits = 101;

// With a thousand calls waiting the median hit may take a few times as long as without, plus the
// 5 ms that a launch waits at most for a measurement of the tuning to end, which happens to be
// under way or not, plus a turn of the scheduler. A hit that had to wait for a thread, a lock or
// its turn among the calls would take tens of milliseconds.
constexpr std::int64_t wait_factor = 5;
constexpr std::int64_t wait_floor_ns = 8'000'000;

// On the daemon's side.
std::int64_t median_hit_ns(v1::Normd::Stub& stub) {
  std::vector<std::int64_t> times_ns;
  for (int i = 0; i < hits; ++i) {
    const RunResult hit = run(stub, ramp_request(2, 16));
    EXPECT_TRUE(hit.status.ok()) << hit.status.error_message();
    times_ns.push_back(hit.response.daemon_ns());
  }
  std::nth_element(times_ns.begin(), times_ns.begin() + hits / 2, times_ns.end());
  return times_ns[hits / 2];
}

TEST(Waiting, a_thousand_calls_that_wait_hold_no_thread_and_keep_no_hit_waiting) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=60000"}});
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(2, 16)).status.ok());
  const std::int64_t idle_ns = median_hit_ns(*stub);
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
  const std::int64_t waiting_ns = median_hit_ns(*watching);
  std::printf("median hit: %.3f ms, with a thousand calls waiting %.3f ms\n",
              static_cast<double>(idle_ns) / 1e6, static_cast<double>(waiting_ns) / 1e6);
  EXPECT_LE(waiting_ns, wait_factor * idle_ns + wait_floor_ns);
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
