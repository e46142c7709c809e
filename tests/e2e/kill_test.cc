#include "kill_test.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "tuner/store/sqlite.h"

namespace normd {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> words_of(const std::string& file_name) {
  std::ifstream file(file_name);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// 0 if the process is gone. The fields before it are the number, the name in brackets, the state.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  return static_cast<pid_t>(std::strtol(text.c_str() + name_end + 4, nullptr, 10));
}

bool descends_from_here(pid_t pid) {
  while (pid > 1 && pid != getpid()) pid = parent_of(pid);
  return pid == getpid();
}

}  // namespace

std::vector<pid_t> workers_alive() {
  std::vector<pid_t> workers;
  DIR* processes = ::opendir("/proc");
  while (const dirent* entry = ::readdir(processes)) {
    const auto words = words_of("/proc/" + std::string(entry->d_name) + "/cmdline");
    const bool worker = words.size() > 1 && words[0].ends_with("/normd") && words[1] == "worker";
    const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (worker && descends_from_here(pid)) workers.push_back(pid);
  }
  ::closedir(processes);
  return workers;
}

void expect_no_workers(std::string_view when) {
  for (int i = 0; i < 100 && !workers_alive().empty(); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(workers_alive().empty()) << when;
}

void KillTest::SetUp() {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

std::unique_ptr<DaemonProcess> KillTest::start(std::vector<std::string> flags) {
  // A short budget: the default is enough here, and each candidate costs a run of the compiler.
  flags.emplace_back("--tuning-budget-ms=300");
  return std::make_unique<DaemonProcess>(directory_.path(), DaemonOptions{.flags = flags});
}

void KillTest::tune(v1::Normd::Stub& stub, std::int64_t columns) {
  const RunResult result = run(stub, ramp_request(4, columns, v1::POLICY_WAIT));
  ASSERT_TRUE(result.status.ok()) << columns << ": " << result.status.error_message();
  acknowledge(result, columns);
}

void KillTest::acknowledge(const RunResult& result, std::int64_t columns) {
  expect_ramp(result.response, 4, columns);
  acknowledged_[columns] = result.response.candidate();
}

void KillTest::expect_acknowledged(v1::Normd::Stub& stub, std::int64_t columns,
                                   std::string_view when) {
  const RunResult result = run(stub, ramp_request(4, columns, v1::POLICY_FAIL));
  ASSERT_TRUE(result.status.ok()) << when << ", " << columns << ": "
                                  << result.status.error_message();
  EXPECT_EQ(result.response.candidate(), acknowledged_.at(columns)) << when;
  expect_ramp(result.response, 4, columns);
}

void KillTest::expect_all_acknowledged(v1::Normd::Stub& stub, std::string_view when) {
  for (const auto& [columns, candidate] : acknowledged_) {
    ASSERT_NO_FATAL_FAILURE(expect_acknowledged(stub, columns, when));
  }
}

void KillTest::expect_sound_store(std::string_view when) {
  auto database = Database::open(directory_.path() + "/store/normd.db", OpenAs::reader);
  ASSERT_TRUE(database) << when << ": " << database.error().message;
  const Result<std::string> words = database->text("PRAGMA integrity_check");
  ASSERT_TRUE(words) << when << ": " << words.error().message;
  EXPECT_EQ(*words, "ok") << when;
}

}  // namespace normd
