#include "tuner/compiler/temporary_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace normd {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
    std::string pattern = (fs::temp_directory_path() / "sweeping XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    place_ = pattern;
    setenv("TMPDIR", place_.c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    fs::remove_all(place_);
  }
  fs::path place_;
  std::string before_;
};

TEST_F(TemporaryDirectoryTest, it_goes_with_its_owner) {
  fs::path path;
  {
    const auto directory = TemporaryDirectory::create();
    ASSERT_TRUE(directory) << directory.error().message;
    path = directory->path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryDirectoryTest, what_a_killed_owner_leaves_is_swept_and_nothing_else) {
  const auto mine = TemporaryDirectory::create();
  ASSERT_TRUE(mine);
  fs::create_directory(place_ / "normd-other");
  int made[2];
  ASSERT_EQ(pipe(made), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const auto directory = TemporaryDirectory::create();
    std::ofstream(directory->path() / "kernel.cc") << "text";
    (void)!write(made[1], directory->path().c_str(), directory->path().native().size());
    pause();
  }
  std::string theirs(4096, '\0');
  theirs.resize(static_cast<std::size_t>(read(made[0], theirs.data(), theirs.size())));
  TemporaryDirectory::sweep();
  EXPECT_TRUE(fs::exists(fs::path(theirs) / "kernel.cc")) << "its owner lives";
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(fs::exists(theirs));
  TemporaryDirectory::sweep();
  EXPECT_FALSE(fs::exists(theirs));
  EXPECT_TRUE(fs::exists(mine->path()));
  EXPECT_TRUE(fs::exists(place_ / "normd-other"));
  close(made[0]);
  close(made[1]);
}

// Making sweeps too, so makers meet sweepers all the time.
TEST_F(TemporaryDirectoryTest, makers_and_sweepers_do_not_take_each_others) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 200; ++round) {
        const auto directory = TemporaryDirectory::create();
        ASSERT_TRUE(directory) << directory.error().message;
        std::ofstream(directory->path() / "file") << "text";
        EXPECT_TRUE(fs::exists(directory->path() / "file"));
      }
    });
  }
  threads.clear();
  EXPECT_TRUE(fs::is_empty(place_));
}

}  // namespace
}  // namespace normd
