// Where compilations are asked from: the tuner counts apart what was not compiled on the tuning
// queue's own thread, for somebody might wait for any other. On the host device, with real workers.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "tests/tuner/worker/test_worker.h"
#include "tuner/device/open_device.h"
#include "tuner/tuner.h"
#include "tuner/tuning_queue.h"

namespace normd {
namespace {

class TunerCounters : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "normd_tuner_XXXXXX";
    directory_ = mkdtemp(name.data());
    store_ = *Store::open(directory_, Store::Mode::read_write);
    const auto device = open_device("host");
    ASSERT_TRUE(device);
    tuner_ = std::make_unique<Tuner>(TunerParts{.store = store_.get(),
                                                .worker = {test_worker()},
                                                .device = "host",
                                                .spec = (*device)->spec(),
                                                .identity = (*device)->identity(),
                                                .compile_workers = 1,
                                                .turn_directory = directory_ + "/turn"});
  }
  void TearDown() override {
    tuner_.reset();
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  // One candidate only: each costs a run of the compiler.
  static TuneRequest request_for(std::int64_t columns) {
    return {.problem = {.rows = 2, .columns = columns}, .budget_ms = 300, .candidates_max = 1};
  }

  std::string directory_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Tuner> tuner_;
};

TEST_F(TunerCounters, what_the_queue_compiles_is_not_on_the_way_of_a_request) {
  TuningQueue queue(
      [&](const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
          std::stop_token stop) {
        return tuner_->tune_unless_elsewhere(request, progress, std::move(stop));
      },
      4);
  std::promise<bool> tuned;
  const auto ticket = queue.submit(
      "key", request_for(100), "a client",
      {.finished = [&](const Result<Tuning>& tuning) { tuned.set_value(tuning.has_value()); }});
  ASSERT_TRUE(ticket);
  EXPECT_TRUE(tuned.get_future().get());
  EXPECT_EQ(tuner_->counters().compiles, 1);
  EXPECT_EQ(tuner_->counters().compiles_elsewhere, 0);
}

TEST_F(TunerCounters, what_any_other_thread_has_compiled_is_counted_apart) {
  const auto tuning = tuner_->tune(request_for(100), [](const TuneProgress&) {}, {});
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuner_->counters().compiles, 1);
  EXPECT_EQ(tuner_->counters().compiles_elsewhere, 1);
  // As a thread that handles requests would with what the queue has given it.
  TuneRequest request = request_for(120);
  std::jthread([&] { request.tuning_thread = std::this_thread::get_id(); }).join();
  ASSERT_TRUE(tuner_->tune(request, [](const TuneProgress&) {}, {}));
  EXPECT_EQ(tuner_->counters().compiles_elsewhere, 2);
}

}  // namespace
}  // namespace normd
