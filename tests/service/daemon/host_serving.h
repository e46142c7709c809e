// What resolver_test and serving_thread_test share: a serving thread on the host device, a store in
// a directory of its own, and a winner that was really compiled. Made once per test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "service/daemon/serving_thread.h"
#include "tuner/compiler/compiler.h"
#include "tuner/store/store.h"

namespace normd {

class HostServing : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "normd_serving_XXXXXX";
    directory_ = mkdtemp(name.data());
    serving_ = start_serving();
    store_ = *Store::open(directory_, Store::Mode::read_write);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<ServingThread> start_serving(int queue_max = 100) {
    auto serving = ServingThread::start({.device = "host",
                                         .turn_directory = directory_ + "/turn",
                                         .queue_max = queue_max,
                                         .lost = [](const Error&) {},
                                         .log = &log_});
    EXPECT_TRUE(serving) << serving.error().message;
    return std::move(*serving);
  }

  Fingerprint fingerprint() const { return make_fingerprint(serving_->spec()); }
  Key key_of(const Problem& problem) const {
    return make_key(problem, serving_->spec(), fingerprint(), BucketMode::bucketed);
  }

  // The cost model's first choice for the problem, compiled; as a tuning would find it.
  Winner make_winner(const Problem& problem, Binary& binary) const {
    const DeviceSpec& spec = serving_->spec();
    const Candidate candidate = ranked_candidates(problem, spec).front();
    auto compiled = compile(render(candidate, problem, spec));
    EXPECT_TRUE(compiled) << compiled.error().message;
    binary = *compiled;
    return {.key = key_of(problem),
            .candidate = candidate,
            .launch = launch_of(candidate, problem, spec),
            .template_digest = template_digest(candidate.template_name),
            .binary_digest = binary.digest,
            .default_candidate = candidate};
  }

  // Stores a winner, spoiled by `spoil` if given.
  Winner store_winner(Store& store, const Problem& problem,
                      const std::function<void(Winner&, Binary&)>& spoil = {}) const {
    Binary binary;
    Winner winner = make_winner(problem, binary);
    if (spoil) spoil(winner, binary);
    EXPECT_TRUE(store.put_binary(binary));
    EXPECT_TRUE(store.put_winner(winner, {}));
    return winner;
  }

  std::string directory_;
  Log log_{LogLevel::off, LogFormat::text};
  std::unique_ptr<ServingThread> serving_;
  std::unique_ptr<Store> store_;
};

}  // namespace normd
