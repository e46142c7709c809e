// What operators are promised of the process: one per socket, an end that loses nothing, and a
// server that strange bytes and exhausted descriptors do not wear out.
#include <grpcpp/generic/generic_stub.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "daemon_process.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"

namespace normd {
namespace {

int connect_to(const std::string& path) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

TEST(Life, a_second_daemon_on_the_same_socket_leaves_the_first_alone) {
  const TestDirectory directory;
  const DaemonProcess first(directory.path());
  DaemonProcess second(directory.path(), {.wait_until_ready = false});
  EXPECT_EQ(second.wait_for_exit(), 3);
  EXPECT_NE(second.log().find("already running"), std::string::npos);
  expect_ramp(run(*first.stub(), ramp_request(2, 8)).response, 2, 8);
}

TEST(Life, a_second_daemon_on_the_same_port_is_refused) {
  const TestDirectory directory, other;
  const DaemonProcess first(directory.path(), {.flags = {"--listen=127.0.0.1:0"}});
  const std::string address = first.ready_line().substr(first.ready_line().find("listen=") + 7);
  DaemonProcess second(other.path(), {.flags = {"--listen=" + address}, .wait_until_ready = false});
  EXPECT_EQ(second.wait_for_exit(), 3);
  EXPECT_NE(second.log().find(address.substr(address.find(':') + 1)), std::string::npos);
  const auto stub = v1::Normd::NewStub(first.channel(address));
  expect_ramp(run(*stub, ramp_request(2, 8)).response, 2, 8);
}

TEST(Life, wrong_flags_end_at_once_with_their_name) {
  const TestDirectory directory;
  DaemonProcess daemon(directory.path(),
                       {.flags = {"--listen=0.0.0.0:1"}, .wait_until_ready = false});
  EXPECT_EQ(daemon.wait_for_exit(), 2);
  EXPECT_NE(daemon.log().find("--listen must be a loopback address"), std::string::npos);
}

TEST(Life, a_stop_signal_ends_it_well_and_removes_the_socket) {
  for (const int number : {SIGTERM, SIGINT}) {
    const TestDirectory directory;
    DaemonProcess daemon(directory.path());
    ASSERT_TRUE(run(*daemon.stub(), ramp_request(2, 8)).status.ok());
    daemon.signal(number);
    EXPECT_EQ(daemon.wait_for_exit(), 0);
    EXPECT_EQ(access(daemon.socket().c_str(), F_OK), -1);
  }
}

// gRPC's own end may wait ten seconds for a thread that polls a connection that was just closed.
TEST(Life, a_stop_is_quick_whether_the_clients_have_left_or_stay) {
  for (int i = 0; i < 6; ++i) {
    const TestDirectory directory;
    DaemonProcess daemon(directory.path());
    auto stub = daemon.stub();
    ASSERT_TRUE(run(*stub, ramp_request(2, 8, v1::POLICY_FAIL)).status.error_code() ==
                grpc::StatusCode::FAILED_PRECONDITION);
    if (i % 2 == 0) stub.reset();
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait_for_exit(std::chrono::seconds(4)), 0) << daemon.log();
  }
}

TEST(Life, a_call_that_waits_for_a_tuning_gets_unavailable_when_the_daemon_stops) {
  const TestDirectory directory;
  DaemonProcess daemon(directory.path(),
                       {.flags = {"--tuning-budget-ms=60000", "--log-level=debug"}});
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(2, 8)).status.ok());
  RunResult waited;
  std::jthread waiting([&] { waited = run(*stub, ramp_request(64, 4096, v1::POLICY_WAIT)); });
  const auto watching = daemon.stub();
  // The first call's tuning waits too, behind its answer.
  while (status_of(*watching).devices(0).calls_waiting() < 2) std::this_thread::yield();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait_for_exit(std::chrono::seconds(20)), 0) << daemon.log();
  waiting.join();
  EXPECT_EQ(waited.status.error_code(), grpc::StatusCode::UNAVAILABLE)
      << waited.status.error_message() << "\n"
      << daemon.log();
}

TEST(Life, it_serves_again_after_idle_connections_took_every_descriptor) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path(), {.shell_prefix = "ulimit -n 64;"});
  std::vector<int> idle;
  for (int i = 0; i < 150; ++i) {
    idle.push_back(connect_to(daemon.socket()));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (const int descriptor : idle) close(descriptor);
  const RunResult result = run(*daemon.stub(), ramp_request(2, 8), std::chrono::seconds(10));
  EXPECT_TRUE(result.status.ok()) << result.status.error_message();
}

TEST(Life, bytes_that_are_no_message_are_invalid_argument_for_every_method) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path());
  for (const char* method : {"Run", "ListWinners", "Explain", "Forget", "GetStatus"}) {
    grpc::GenericStub stub(daemon.channel());
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const grpc::Slice garbage(std::string("\xff\xff\xff\xff"));
    const grpc::ByteBuffer request(&garbage, 1);
    const auto call =
        stub.PrepareUnaryCall(&context, std::string("/normd.v1.Normd/") + method, request, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    int tag = 0;
    call->Finish(&response, &status, &tag);
    void* got = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&got, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
  }
  expect_ramp(run(*daemon.stub(), ramp_request(2, 8)).response, 2, 8);
}

TEST(Life, strangers_on_the_socket_disturb_nobody) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path());
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01", 6),
        std::string(10'000, '\xff'), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
    const int stranger = connect_to(daemon.socket());
    ASSERT_GE(stranger, 0);
    ASSERT_EQ(send(stranger, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    expect_ramp(run(*daemon.stub(), ramp_request(2, 8)).response, 2, 8);
    close(stranger);
  }
}

TEST(Life, health_is_serving_for_the_server_and_for_the_service) {
  const TestDirectory directory;
  const DaemonProcess daemon(directory.path());
  const auto stub = grpc::health::v1::Health::NewStub(daemon.channel());
  for (const char* name : {"", "normd.v1.Normd"}) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(name);
    grpc::health::v1::HealthCheckResponse response;
    ASSERT_TRUE(stub->Check(&context, request, &response).ok()) << name;
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
  }
}

namespace reflection = grpc::reflection::v1alpha;

grpc::Status list_services(const std::shared_ptr<grpc::Channel>& channel,
                           reflection::ServerReflectionResponse& response) {
  const auto stub = reflection::ServerReflection::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  const auto stream = stub->ServerReflectionInfo(&context);
  reflection::ServerReflectionRequest request;
  request.set_list_services("");
  stream->Write(request);
  stream->WritesDone();
  stream->Read(&response);
  return stream->Finish();
}

TEST(Life, reflection_answers_on_the_socket_and_on_tcp_only_if_told_to) {
  for (const bool told : {false, true}) {
    const TestDirectory directory;
    std::vector<std::string> flags{"--listen=127.0.0.1:0"};
    if (told) flags.push_back("--reflection");
    const DaemonProcess daemon(directory.path(), {.flags = flags});
    reflection::ServerReflectionResponse response;
    ASSERT_TRUE(list_services(daemon.channel(), response).ok());
    EXPECT_EQ(response.list_services_response().service(0).name(), "normd.v1.Normd");
    const std::string address = daemon.ready_line().substr(daemon.ready_line().find("listen=") + 7);
    const auto status = list_services(daemon.channel(address), response);
    EXPECT_EQ(status.error_code(), told ? grpc::StatusCode::OK : grpc::StatusCode::UNIMPLEMENTED);
  }
}

TEST(Life, a_supervised_daemon_that_is_killed_comes_back_with_its_winners) {
  const TestDirectory directory;
  DaemonProcess daemon(directory.path(), {.flags = {"--supervise"}});
  const auto stub = daemon.stub();
  ASSERT_TRUE(run(*stub, ramp_request(2, 8, v1::POLICY_WAIT)).status.ok());
  const int first = status_of(*stub).pid();
  EXPECT_NE(first, daemon.pid());
  kill(first, SIGKILL);
  // A connection to the dead daemon may still be taken by the system for a moment.
  RunResult again = run(*daemon.stub(), ramp_request(2, 8, v1::POLICY_FAIL));
  for (int i = 0; i < 50 && !again.status.ok(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    again = run(*daemon.stub(), ramp_request(2, 8, v1::POLICY_FAIL));
  }
  ASSERT_TRUE(again.status.ok()) << again.status.error_message();
  EXPECT_EQ(again.response.origin(), v1::ORIGIN_STORE);
  EXPECT_NE(status_of(*daemon.stub()).pid(), first);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait_for_exit(), 0);
}

}  // namespace
}  // namespace normd
