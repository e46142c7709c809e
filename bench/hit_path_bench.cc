// What a request for a tuned shape costs besides its kernel: the lookup alone, and whole calls to a
// daemon on this machine against a call that does nothing (the standard health check). Start the
// daemon first; pin both for steady figures:
//   taskset -c 2 normd --socket /tmp/n.sock --store /tmp/n &
//   taskset -c 3 hit_path_bench --socket=/tmp/n.sock
// Without --socket only the lookup is measured.
#include <benchmark/benchmark.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/client_unary_call.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/key.h"
#include "service/client/client.h"
#include "service/daemon/kernel_cache.h"

namespace normd {
namespace {

std::string socket_path;

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// From a request's problem to the loaded kernel: the key and the one look into memory.
void lookup(benchmark::State& state) {
  const DeviceSpec spec = *architecture_preset("sm_90");
  const Fingerprint fingerprint = make_fingerprint(spec);
  KernelCache cache(4096);
  std::vector<Problem> problems;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    problems.push_back(
        {.rows = 1 + i * 37 % 5000, .columns = 64 + i, .x = DType::bf16, .y = DType::bf16});
    cache.put(make_key(problems.back(), spec, fingerprint, BucketMode::bucketed),
              std::make_shared<ServedKernel>());
  }
  const auto now = std::chrono::steady_clock::now();
  std::size_t next = 0;
  for (auto _ : state) {
    const Key key = make_key(problems[next], spec, fingerprint, BucketMode::bucketed);
    benchmark::DoNotOptimize(cache.find(key, now));
    next = next + 1 == problems.size() ? 0 : next + 1;
  }
}
BENCHMARK(lookup)->Arg(1)->Arg(1000);

// The standard health check over the same socket: what any call costs.
void call_that_does_nothing(benchmark::State& state) {
  const auto channel =
      grpc::CreateChannel("unix:" + socket_path, grpc::InsecureChannelCredentials());
  const grpc::internal::RpcMethod check("/grpc.health.v1.Health/Check",
                                        grpc::internal::RpcMethod::NORMAL_RPC);
  std::vector<double> whole_us;
  for (auto _ : state) {
    grpc::ClientContext context;
    const grpc::Slice nothing;
    const grpc::ByteBuffer request(&nothing, 1);
    grpc::ByteBuffer response;
    const auto begun = std::chrono::steady_clock::now();
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
            channel.get(), check, &context, request, &response);
    whole_us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun)
            .count());
    if (!status.ok()) return state.SkipWithError(status.error_message().c_str());
  }
  state.counters["p50_us"] = percentile(whole_us, 0.5);
  state.counters["p99_us"] = percentile(whole_us, 0.99);
}

// Run for a shape that was tuned before the clock starts.
void run_hit(benchmark::State& state) {
  auto client = Client::connect(socket_path);
  if (!client) return state.SkipWithError(client.error().message.c_str());
  const std::int64_t rows = state.range(0), columns = state.range(1);
  const std::vector<float> x(static_cast<std::size_t>(rows * columns), 1.5f);
  const std::vector<float> gamma(static_cast<std::size_t>(columns), 1.0f);
  RunCall call{.rows = rows,
               .columns = columns,
               .x = {DType::fp32, x.data(), rows * columns},
               .gamma = {DType::fp32, gamma.data(), columns},
               .beta = {},
               .policy = v1::POLICY_WAIT};
  auto first = client->run(call);
  if (!first) return state.SkipWithError(first.error().message.c_str());
  std::vector<double> whole_us, daemon_us, kernel_us;
  for (auto _ : state) {
    const auto begun = std::chrono::steady_clock::now();
    const auto answer = client->run(call);
    whole_us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun)
            .count());
    if (!answer || answer->origin != v1::ORIGIN_MEMORY) return state.SkipWithError("not a hit");
    daemon_us.push_back(static_cast<double>(answer->daemon_ns) / 1e3);
    kernel_us.push_back(static_cast<double>(answer->kernel_ns) / 1e3);
  }
  state.counters["p50_us"] = percentile(whole_us, 0.5);
  state.counters["p99_us"] = percentile(whole_us, 0.99);
  state.counters["daemon_p50_us"] = percentile(daemon_us, 0.5);
  state.counters["daemon_p99_us"] = percentile(daemon_us, 0.99);
  state.counters["kernel_p50_us"] = percentile(kernel_us, 0.5);
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  // Our one flag is taken out before the library reads its own.
  const char flag[] = "--socket=";
  const auto kept = std::remove_if(argv + 1, argv + argc, [&](const char* word) {
    const bool ours = std::strncmp(word, flag, sizeof flag - 1) == 0;
    if (ours) normd::socket_path = word + sizeof flag - 1;
    return ours;
  });
  argc = static_cast<int>(kept - argv);
  if (!normd::socket_path.empty()) {
    benchmark::RegisterBenchmark("call_that_does_nothing", normd::call_that_does_nothing)
        ->UseRealTime()
        ->Iterations(3000);
    benchmark::RegisterBenchmark("run_hit", normd::run_hit)
        ->Args({1, 1024})
        ->Args({128, 1024})
        ->UseRealTime()
        ->Iterations(3000);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
