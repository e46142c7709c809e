#include "service/daemon/listening.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace normd {
namespace {

class Listening : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "normd_listening_XXXXXX";
    directory_ = mkdtemp(name.data());  // 0700
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(Listening, the_socket_is_the_owners_alone_and_goes_with_the_listener) {
  const std::string path = directory_ + "/d/s";
  {
    const auto listener = UnixListener::bind(path);
    ASSERT_TRUE(listener) << listener.error().error.message;
    struct stat status {};
    ASSERT_EQ(lstat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(lstat((directory_ + "/d").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Listening, a_second_daemon_on_the_same_path_is_refused_and_the_first_untouched) {
  const std::string path = directory_ + "/s";
  const auto first = UnixListener::bind(path);
  ASSERT_TRUE(first);
  const auto second = UnixListener::bind(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().exit_code, ExitCode::already_running);
  EXPECT_NE(second.error().error.message.find("already running"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(Listening, a_socket_left_by_a_killed_daemon_is_replaced) {
  const std::string path = directory_ + "/s";
  {
    auto dead = UnixListener::bind(path);
    ASSERT_TRUE(dead);
    std::filesystem::rename(path, path + ".kept");
  }
  std::filesystem::rename(path + ".kept", path);
  EXPECT_TRUE(UnixListener::bind(path));
}

TEST_F(Listening, a_place_that_others_can_meddle_with_is_refused) {
  std::filesystem::create_directory(directory_ + "/real");
  std::filesystem::create_directory_symlink(directory_ + "/real", directory_ + "/link");
  EXPECT_FALSE(UnixListener::bind(directory_ + "/link/s"));
  std::filesystem::create_directory(directory_ + "/open");
  std::filesystem::permissions(directory_ + "/open", std::filesystem::perms::all);
  const auto refused = UnixListener::bind(directory_ + "/open/s");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, ExitCode::place_unusable);
}

TEST_F(Listening, a_file_that_is_no_socket_is_never_removed) {
  std::ofstream(directory_ + "/s") << "mine";
  EXPECT_FALSE(UnixListener::bind(directory_ + "/s"));
  EXPECT_TRUE(std::filesystem::is_regular_file(directory_ + "/s"));
}

TEST_F(Listening, a_port_has_one_daemon_and_zero_picks_a_free_one) {
  const auto first = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(first) << first.error().error.message;
  EXPECT_GT(first->port, 0);
  const auto second = listen_tcp({"127.0.0.1", first->port});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().exit_code, ExitCode::already_running);
  EXPECT_NE(second.error().error.message.find(std::to_string(first->port)), std::string::npos);
}

}  // namespace
}  // namespace normd
