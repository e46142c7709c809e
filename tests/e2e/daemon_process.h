// A real daemon for an end-to-end test: the normd program on the host device, in a directory of its
// own, and a client of the generated stubs. NORMD_PROGRAM names the program. Spawned, never forked,
// because a test's own gRPC has threads.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "normd/v1/normd.grpc.pb.h"

namespace normd {

// A directory (0700) that goes with its owner.
class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  TestDirectory(const TestDirectory&) = delete;  // the directory goes once
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct DaemonOptions {
  std::vector<std::string> flags;  // beside --socket, --store and --devices host
  std::string shell_prefix;        // such as "ulimit -n 64;", run before the program
  bool wait_until_ready = true;
};

class DaemonProcess {
 public:
  explicit DaemonProcess(const std::string& directory, DaemonOptions options = {});
  ~DaemonProcess();                              // kills what still runs
  DaemonProcess(const DaemonProcess&) = delete;  // one process, one owner

  bool ready() const { return !ready_line_.empty(); }
  const std::string& ready_line() const { return ready_line_; }
  int pid() const { return pid_; }
  void signal(int number) const;
  // Waits for the end: the exit status, or 128 plus the signal; -1 if it goes on.
  int wait_for_exit(std::chrono::milliseconds limit = std::chrono::seconds(30));
  std::string log() const;

  std::string target() const { return "unix:" + socket_; }
  const std::string& socket() const { return socket_; }
  std::shared_ptr<grpc::Channel> channel(const std::string& target = {}) const;
  std::unique_ptr<v1::Normd::Stub> stub() const { return v1::Normd::NewStub(channel()); }

 private:
  void wait_until_ready(int output);

  std::string socket_;
  std::string log_path_;
  std::string ready_line_;
  int pid_ = -1;
  int exit_status_ = -1;
};

// A request for rows of 0, 1, 2, ..., every row alike, in fp32, without gamma and beta.
v1::RunRequest ramp_request(std::int64_t rows, std::int64_t columns,
                            v1::Policy policy = v1::POLICY_FALLBACK);
// Whether the answer to a ramp_request is right to the last bit but a few.
void expect_ramp(const v1::RunResponse& response, std::int64_t rows, std::int64_t columns);

struct RunResult {
  grpc::Status status;
  v1::RunResponse response;
};
RunResult run(v1::Normd::Stub& stub, const v1::RunRequest& request,
              std::chrono::milliseconds deadline = std::chrono::seconds(60));

v1::GetStatusResponse status_of(v1::Normd::Stub& stub);

// The field that the error details name; empty if none.
std::string field_at_fault(const grpc::Status& status);

}  // namespace normd
