// Two daemons on one store at the same time: each key is tuned once between them, and when the one
// that tunes it is killed the other takes over.
#include <csignal>
#include <future>
#include <thread>

#include "held_compilation.h"
#include "tuner/store/sqlite.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

// As long as a lease lives (tuner/tuner.cc); a killed holder's is free at once.
constexpr auto lease = 10s;

class TwoDaemons : public testing::Test {
 protected:
  // Each has a socket of its own; the store is the first one's.
  std::unique_ptr<DaemonProcess> start(const TestDirectory& directory,
                                       DaemonOptions options = {}) const {
    options.flags.push_back("--store=" + store_);
    options.flags.emplace_back("--tuning-budget-ms=1000");
    return std::make_unique<DaemonProcess>(directory.path(), std::move(options));
  }
  static std::future<RunResult> ask(const DaemonProcess& daemon, std::int64_t columns) {
    return std::async(std::launch::async, [stub = daemon.stub(), columns] {
      return run(*stub, ramp_request(4, columns, v1::POLICY_WAIT));
    });
  }
  std::string stored(const std::string& question) const {
    auto database = Database::open(store_ + "/normd.db", OpenAs::reader);
    EXPECT_TRUE(database) << database.error().message;
    if (!database) return {};
    return database->text(question.c_str()).value_or("no answer");
  }

  const TestDirectory one_, other_;
  const std::string store_ = one_.path() + "/store";
};

TEST_F(TwoDaemons, tune_each_key_once_between_them_and_give_the_same_winner) {
  const auto first = start(one_);
  const auto second = start(other_);
  ASSERT_TRUE(first->ready() && second->ready());
  constexpr int keys = 6;
  for (int number = 0; number < keys; ++number) {
    auto one = ask(*first, 100 + number);
    auto other = ask(*second, 100 + number);
    const RunResult a = one.get(), b = other.get();
    ASSERT_TRUE(a.status.ok()) << a.status.error_message();
    ASSERT_TRUE(b.status.ok()) << b.status.error_message();
    expect_ramp(a.response, 4, 100 + number);
    EXPECT_EQ(a.response.candidate(), b.response.candidate());
  }
  EXPECT_EQ(status_of(*first->stub()).counters().tunings() +
                status_of(*second->stub()).counters().tunings(),
            keys);
  EXPECT_EQ(stored("SELECT count(*) FROM winner"), std::to_string(keys));
}

TEST_F(TwoDaemons, the_other_takes_over_when_the_one_that_tunes_is_killed) {
  const HeldCompilation held;
  held.hold();
  const auto holder = start(one_, {.shell_prefix = held.shell_prefix()});
  auto lost = ask(*holder, 100);
  while (status_of(*holder->stub()).devices(0).tunings_running() == 0) {
    std::this_thread::sleep_for(10ms);
  }
  const auto other = start(other_);
  auto waiting = ask(*other, 100);
  // It leaves the key alone and has another one tuned meanwhile.
  ASSERT_TRUE(ask(*other, 101).get().status.ok());
  EXPECT_EQ(waiting.wait_for(500ms), std::future_status::timeout);
  EXPECT_EQ(status_of(*other->stub()).counters().tunings(), 1);

  holder->signal(SIGKILL);
  ASSERT_EQ(holder->wait_for_exit(), 128 + SIGKILL);
  const auto killed_at = std::chrono::steady_clock::now();
  const RunResult answer = waiting.get();
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_LT(std::chrono::steady_clock::now() - killed_at, lease);
  expect_ramp(answer.response, 4, 100);
  EXPECT_EQ(status_of(*other->stub()).counters().tunings(), 2);
  EXPECT_EQ(stored("SELECT count(*) FROM winner"), "2");
  EXPECT_FALSE(lost.get().status.ok());
}

}  // namespace
}  // namespace normd
