// What the tests of the resolver share: a resolver on the host device whose tunings are made up.
// Made once per test.
#pragma once

#include <atomic>
#include <future>
#include <thread>

#include "host_serving.h"
#include "kernels/digest.h"
#include "service/daemon/resolver.h"

namespace normd {

inline constexpr Problem shape{.rows = 3, .columns = 100};

// A resolver whose tunings are made up: they wait for `go` and then store what `outcome` makes.
class Resolving : public HostServing {
 protected:
  void SetUp() override {
    HostServing::SetUp();
    gate_ = go_.get_future().share();
    resolver_ = std::make_unique<Resolver>(Resolver::Parts{
        .store = store_.get(),
        .serving = serving_.get(),
        .tune =
            [this](const TuneRequest& request, const auto& progress, std::stop_token stop) {
              if (has_default_) progress(with_default(request.problem));
              if (default_falls_) progress({});
              return tune(request, std::move(stop));
            },
        .fingerprint = fingerprint(),
        .compiler = compiler_,
        .admission = &admission_,
        .counters = &counters_,
        .log = &log_,
        .tuning_budget_ms = 1000});
  }
  void TearDown() override {
    resolver_.reset();
    HostServing::TearDown();
  }

  // What a tuning says once its default has passed the gate.
  TuneProgress with_default(const Problem& problem) {
    Binary binary;
    const Winner winner = make_winner(problem, binary);
    if (default_is_damaged_) {
      binary.bytes = "no shared object";
      binary.digest = sha256_hex(binary.bytes);
    }
    EXPECT_TRUE(store_->put_binary(binary));
    return {.default_candidate = to_text(winner.candidate), .default_binary_digest = binary.digest};
  }

  Result<Tuning> tune(const TuneRequest& request, std::stop_token stop) {
    ++tunings_;
    last_again_ = request.again;
    while (gate_.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      if (stop.stop_requested()) return fail(ErrorCode::unavailable, "stopped");
    }
    if (fails_) return fail(ErrorCode::failed_precondition, "no compiler");
    if (finds_damaged_) return Tuning{.winner = store_damaged_winner(request.problem)};
    return Tuning{.winner = store_winner(*store_, request.problem)};
  }

  // No device loads it.
  Winner store_damaged_winner(const Problem& problem) {
    return store_winner(*store_, problem, [](Winner& winner, Binary& binary) {
      binary.bytes = "no shared object";
      binary.digest = winner.binary_digest = sha256_hex(binary.bytes);
    });
  }

  std::future<Result<Resolved>> ask(Policy policy,
                                    std::shared_ptr<Cancellation> cancellation = nullptr) {
    const auto promise = std::make_shared<std::promise<Result<Resolved>>>();
    if (!cancellation) cancellation = std::make_shared<Cancellation>();
    resolver_->resolve(
        {.problem = shape, .policy = policy, .client = "test"}, cancellation,
        [promise](Result<Resolved> resolved) { promise->set_value(std::move(resolved)); });
    return promise->get_future();
  }
  Origin origin_of(Policy policy) {
    const auto resolved = ask(policy).get();
    EXPECT_TRUE(resolved) << resolved.error().message;
    return resolved ? resolved->origin : Origin::none;
  }
  template <typename Reached>
  static bool soon(Reached reached) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!reached() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return reached();
  }

  std::string compiler_;  // none
  std::promise<void> go_;
  std::shared_future<void> gate_;
  std::atomic<int> tunings_ = 0;
  std::atomic<bool> last_again_ = false;
  std::atomic<bool> fails_ = false;
  std::atomic<bool> finds_damaged_ = false;
  std::atomic<bool> has_default_ = false;
  std::atomic<bool> default_falls_ = false;
  std::atomic<bool> default_is_damaged_ = false;
  Admission admission_{{.in_flight_bytes_max = 1, .waiting_calls_max = 100}};
  ServingCounters counters_;
  std::unique_ptr<Resolver> resolver_;
};

}  // namespace normd
