#include "tuner/device/device_turn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

extern char** environ;

namespace normd {
namespace {

namespace files = std::filesystem;

constexpr const char* uuid = "GPU-5b1f0000-0000-0000-0000-000000000000";

class DeviceTurnTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "normd_turn_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    directory_ = (root_ / "a b" / "turns").string();
  }
  void TearDown() override { files::remove_all(root_); }

  DeviceTurn open() {
    auto turn = DeviceTurn::open(directory_, uuid);
    EXPECT_TRUE(turn) << turn.error().message;
    return *std::move(turn);
  }
  files::path turn_file() const { return files::path(directory_) / (std::string(uuid) + ".turn"); }

  files::path root_;
  std::string directory_;
};

TEST_F(DeviceTurnTest, the_directory_is_made_for_its_owner_alone) {
  open();
  struct stat status {};
  ASSERT_EQ(stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(turn_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(DeviceTurnTest, a_directory_that_is_there_keeps_its_rights) {
  files::create_directories(directory_);
  chmod(directory_.c_str(), 0750);
  open();
  struct stat status {};
  ASSERT_EQ(stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0750u);
}

TEST_F(DeviceTurnTest, only_one_holds_the_turn_and_giving_it_lets_the_next_one_in) {
  DeviceTurn one = open();
  DeviceTurn other = open();
  one.take();
  EXPECT_FALSE(other.try_take());
  one.give();
  EXPECT_TRUE(other.try_take());
  EXPECT_FALSE(one.try_take());
}

TEST_F(DeviceTurnTest, devices_do_not_wait_for_each_other) {
  DeviceTurn one = open();
  auto other = DeviceTurn::open(directory_, "GPU-another");
  ASSERT_TRUE(other);
  one.take();
  EXPECT_TRUE(other->try_take());
}

TEST_F(DeviceTurnTest, take_waits_until_the_holder_gives) {
  DeviceTurn one = open();
  one.take();
  std::atomic<bool> taken = false;
  std::jthread waiter([&] {
    DeviceTurn other = open();
    other.take();
    taken = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(taken);
  one.give();
  waiter.join();
  EXPECT_TRUE(taken);
}

TEST_F(DeviceTurnTest, the_turn_ends_with_its_holder) {
  DeviceTurn other = open();
  {
    DeviceTurn one = open();
    one.take();
    EXPECT_FALSE(other.try_take());
  }
  EXPECT_TRUE(other.try_take());
}

TEST_F(DeviceTurnTest, a_moved_turn_is_held_by_where_it_went) {
  DeviceTurn one = open();
  one.take();
  DeviceTurn holder = std::move(one);
  DeviceTurn other = open();
  EXPECT_FALSE(other.try_take());
  holder.give();
  EXPECT_TRUE(other.try_take());
}

// flock(1) of the system is the other process.
TEST_F(DeviceTurnTest, another_process_is_kept_out_and_let_in) {
  DeviceTurn turn = open();
  const auto flock_succeeds = [&] {
    const std::string file = turn_file().string();
    std::string program = "flock";
    std::string option = "--nonblock";
    std::string path = file;
    std::string command = "true";
    char* arguments[] = {program.data(), option.data(), path.data(), command.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(posix_spawnp(&child, "flock", nullptr, nullptr, arguments, environ), 0);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  EXPECT_TRUE(flock_succeeds());
  turn.take();
  EXPECT_FALSE(flock_succeeds());
  turn.give();
  EXPECT_TRUE(flock_succeeds());
}

TEST_F(DeviceTurnTest, a_child_process_does_not_inherit_the_turn) {
  const DeviceTurn turn = open();
  for (const auto& entry : files::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (files::read_symlink(entry.path(), error) != turn_file()) continue;
    const int descriptor = std::stoi(entry.path().filename().string());
    EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
    return;
  }
  FAIL() << "no descriptor of " << turn_file();
}

TEST_F(DeviceTurnTest, a_name_with_slashes_stays_in_the_directory) {
  const auto turn = DeviceTurn::open(directory_, "../../host:sm_90");
  ASSERT_TRUE(turn);
  EXPECT_TRUE(files::exists(files::path(directory_) / "______host_sm_90.turn"));
}

TEST_F(DeviceTurnTest, a_link_in_place_of_the_file_is_refused) {
  files::create_directories(directory_);
  files::create_symlink(root_ / "elsewhere", turn_file());
  const auto turn = DeviceTurn::open(directory_, uuid);
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().code, ErrorCode::failed_precondition);
  EXPECT_FALSE(files::exists(root_ / "elsewhere"));
}

TEST_F(DeviceTurnTest, a_place_that_cannot_be_made_is_named) {
  const auto turn = DeviceTurn::open("/proc/no/such/place", uuid);
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().code, ErrorCode::failed_precondition);
  EXPECT_NE(turn.error().message.find("/proc/no/such/place"), std::string::npos);
}

}  // namespace
}  // namespace normd
