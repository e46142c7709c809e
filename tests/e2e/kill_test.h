// What tests that kill a daemon or its workers in the midst of a tuning have in common: the
// processes that run, the winners that were acknowledged, and whether the store is sound.
#pragma once

#include <sys/types.h>

#include <map>

#include "daemon_process.h"

namespace normd {

// Processes below this one that run `normd worker`. Whoever loses its daemon becomes a child of
// this process, which a KillTest asks for (PR_SET_CHILD_SUBREAPER).
std::vector<pid_t> workers_alive();
void expect_no_workers(std::string_view when);

// One directory, whose daemon may be started again and again.
class KillTest : public testing::Test {
 protected:
  void SetUp() override;

  std::unique_ptr<DaemonProcess> start(std::vector<std::string> flags = {});

  // Tunes rows of so many columns and remembers what was acknowledged.
  void tune(v1::Normd::Stub& stub, std::int64_t columns);
  void acknowledge(const RunResult& result, std::int64_t columns);

  void expect_acknowledged(v1::Normd::Stub& stub, std::int64_t columns, std::string_view when);
  void expect_all_acknowledged(v1::Normd::Stub& stub, std::string_view when);
  void expect_sound_store(std::string_view when);

  TestDirectory directory_;
  std::map<std::int64_t, std::string> acknowledged_;  // candidates, by columns
};

}  // namespace normd
