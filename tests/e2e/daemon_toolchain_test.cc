// The daemon and the compiler it runs: what a broken toolchain leaves in the store, and what a stop
// leaves on the disk.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "daemon_process.h"

namespace normd {
namespace {

bool holds_a_kernel_text(const std::filesystem::path& place) {
  std::error_code gone;  // what is listed may be removed before it is looked into
  for (const auto& entry : std::filesystem::directory_iterator(place, gone)) {
    if (std::filesystem::exists(entry.path() / "kernel.cc", gone)) return true;
  }
  return false;
}

TEST(Toolchain, a_tuning_without_an_assembler_is_forgotten_once_there_is_one) {
  const TestDirectory directory;
  {
    const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=300"},
                                                  .shell_prefix = "PATH=/nonexistent;"});
    const auto stub = daemon.stub();
    const RunResult waited = run(*stub, ramp_request(2, 3, v1::POLICY_WAIT));
    EXPECT_EQ(waited.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  }
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=300"}});
  const auto stub = daemon.stub();
  const RunResult waited = run(*stub, ramp_request(2, 3, v1::POLICY_WAIT));
  ASSERT_TRUE(waited.status.ok()) << waited.status.error_message();
  EXPECT_EQ(waited.response.origin(), v1::ORIGIN_TUNED);
}

TEST(Toolchain, a_stop_amid_compilations_leaves_no_temporary_file) {
  const TestDirectory directory;
  const std::filesystem::path temporary = directory.path() + "/temporary";
  std::filesystem::create_directory(temporary);
  // An assembler so slow that a compilation is under way whenever the stop comes.
  const std::filesystem::path tools = directory.path() + "/tools";
  std::filesystem::create_directory(tools);
  std::ofstream(tools / "as") << "#!/bin/sh\nsleep 10\n";
  std::filesystem::permissions(tools / "as", std::filesystem::perms::owner_all);
  DaemonProcess daemon(directory.path(), {.shell_prefix = "export TMPDIR=" + temporary.string() +
                                                          " PATH=" + tools.string() + ":$PATH;"});
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(64, 4096)).status.ok());
  // The call came back at once; a tuning compiles behind it.
  for (int i = 0; i < 2000 && !holds_a_kernel_text(temporary); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(holds_a_kernel_text(temporary)) << "nothing was compiled";
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait_for_exit(), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(temporary)) {
    ADD_FAILURE() << entry.path() << " was left";
  }
}

}  // namespace
}  // namespace normd
