// 256 calls at once for one key that nobody has tuned: one tuning, each of its candidates compiled
// once, one winner for everyone.
#include <filesystem>
#include <vector>

#include "daemon_process.h"
#include "kernels/key.h"
#include "tuner/store/store.h"

namespace normd {
namespace {

constexpr int calls_at_once = 256;
// Few candidates fit one column, and the budget is enough for all of them.
constexpr std::int64_t columns = 1;

struct Call {
  grpc::ClientContext context;
  v1::RunResponse response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::RunResponse>> reader;
};

std::vector<std::unique_ptr<Call>> call_all(v1::Normd::Stub& stub) {
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Call>> calls;
  const v1::RunRequest request = ramp_request(4, columns, v1::POLICY_WAIT);
  for (int i = 0; i < calls_at_once; ++i) {
    auto call = std::make_unique<Call>();
    call->reader = stub.AsyncRun(&call->context, request, &queue);
    call->reader->Finish(&call->response, &call->status, call.get());
    calls.push_back(std::move(call));
  }
  for (int i = 0; i < calls_at_once; ++i) {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
  }
  return calls;
}

TEST(OneColdKey, asked_for_by_256_calls_is_tuned_once_and_each_candidate_compiled_once) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=120000"}});
  const auto stub = daemon.stub();
  const auto calls = call_all(*stub);
  int tuned = 0;
  for (const auto& call : calls) {
    ASSERT_TRUE(call->status.ok()) << call->status.error_message();
    EXPECT_EQ(call->response.candidate(), calls.front()->response.candidate());
    tuned += call->response.origin() == v1::ORIGIN_TUNED;
  }
  EXPECT_EQ(tuned, 1);
  const auto counters = status_of(*stub).counters();
  EXPECT_EQ(counters.tunings(), 1);
  EXPECT_EQ(counters.compiles_on_request_path(), 0);

  const auto store = Store::open(directory.path() + "/store", Store::Mode::read_only);
  ASSERT_TRUE(store) << store.error().message;
  const auto key = parse_key(calls.front()->response.key());
  ASSERT_TRUE(key) << key.error().message;
  const auto trials = (*store)->find_trials(*key);
  ASSERT_TRUE(trials) << trials.error().message;
  EXPECT_GT(trials->size(), 1u);
  EXPECT_EQ(counters.compiles(), static_cast<std::int64_t>(trials->size()));
}

}  // namespace
}  // namespace normd
