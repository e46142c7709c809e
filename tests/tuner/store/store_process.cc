#include "tests/tuner/store/store_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "kernels/check.h"
#include "tests/tuner/store/store_samples.h"
#include "tuner/store/sqlite.h"

namespace normd {
namespace {

void say(const std::string& text) {
  const std::string line = text + "\n";
  NORMD_CHECK(::write(STDOUT_FILENO, line.data(), line.size()) ==
              static_cast<ssize_t>(line.size()));
}

int write_winners(const std::string& directory, int first, int count) {
  auto store = open_store(directory);
  for (int number = first; number < first + count; ++number) {
    const bool done = store->put_binary(sample_binary(number)) &&
                      store->put_winner(sample_winner(number), {measured_trial(number)});
    if (!done || !store->status().persistent) {
      say("failed " + store->status().degraded_reason);
      return 1;
    }
    say("ok " + std::to_string(number));
  }
  return 0;
}

int hold_write_lock(const std::string& directory, int hold_ms) {
  auto database = Database::open(directory + "/normd.db", OpenAs::writer);
  NORMD_CHECK(database.has_value());
  auto transaction = Transaction::begin(*database);
  NORMD_CHECK(transaction.has_value());
  say("holding");
  std::this_thread::sleep_for(std::chrono::milliseconds(hold_ms));
  return 0;
}

int hold_lease(const std::string& directory, int ttl_ms) {
  auto store = open_store(directory);
  auto lease = store->try_lease(sample_key(0), ttl_ms);
  NORMD_CHECK(lease.has_value());
  say(*lease ? "taken" : "refused");
  if (*lease) std::this_thread::sleep_for(std::chrono::minutes(1));
  return 0;
}

void become(int uid) {
  NORMD_CHECK(::setgid(static_cast<gid_t>(uid)) == 0 && ::setuid(static_cast<uid_t>(uid)) == 0);
}

int serve_as_user(const std::string& directory, int uid) {
  become(uid);
  auto store = open_store(directory);
  say(has_winner(*store, 0) ? "found" : "missed");
  const bool put = store->put_winner(sample_winner(100), {}).has_value();
  say(put && has_winner(*store, 100) && has_winner(*store, 1) ? "kept" : "lost");
  say(store->status().persistent ? "persistent" : store->status().degraded_reason);
  return 0;
}

int list_as_user(const std::string& directory, int uid) {
  become(uid);
  auto store = Store::open(directory, Store::Mode::read_only);
  if (!store) {
    say(store.error().message);
    return 1;
  }
  const auto winners = (*store)->list_winners({.limit = 1000});
  say(winners ? std::to_string(winners->size()) : winners.error().message);
  return 0;
}

int open_and_close(const std::string& directory) {
  auto store = Store::open(directory, Store::Mode::read_write);
  say(store ? "ok" : store.error().message);
  return store ? 0 : 1;
}

}  // namespace

StoreProcess::StoreProcess(const std::string& verb, const std::string& directory,
                           const std::vector<std::string>& arguments) {
  int ends[2];
  NORMD_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  std::vector<std::string> words = {"/proc/self/exe", "--store-process", verb, directory};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const std::string program = "/proc/" + std::to_string(::getpid()) + "/exe";
  NORMD_CHECK(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output_ = ends[0];
}

StoreProcess::~StoreProcess() {
  kill();
  wait();
  ::close(output_);
}

std::string StoreProcess::line() {
  std::string line;
  char byte = 0;
  while (::read(output_, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

std::vector<std::string> StoreProcess::rest() {
  std::vector<std::string> lines;
  for (std::string next = line(); !next.empty(); next = line()) lines.push_back(next);
  return lines;
}

void StoreProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

int StoreProcess::wait() {
  if (pid_ <= 0) return 0;
  int status = 0;
  NORMD_CHECK(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int run_store_process(int count, char** arguments) {
  NORMD_CHECK(count >= 4);
  const std::string verb = arguments[2];
  const std::string directory = arguments[3];
  const auto number = [&](int index) {
    NORMD_CHECK(index < count);
    return std::stoi(arguments[index]);
  };
  if (verb == "write") return write_winners(directory, number(4), number(5));
  if (verb == "hold") return hold_write_lock(directory, number(4));
  if (verb == "lease") return hold_lease(directory, number(4));
  if (verb == "list") return list_as_user(directory, number(4));
  if (verb == "serve") return serve_as_user(directory, number(4));
  if (verb == "open") return open_and_close(directory);
  return 2;
}

}  // namespace normd

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "--store-process") == 0) {
    return normd::run_store_process(count, arguments);
  }
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
