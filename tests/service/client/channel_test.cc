#include "service/client/channel.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "tests/service/client/fake_daemon.h"

namespace normd {
namespace {

TEST(Channel, a_path_becomes_a_unix_target) {
  EXPECT_EQ(grpc_target("/run/normd/normd.sock"), "unix:/run/normd/normd.sock");
  EXPECT_EQ(grpc_target("./normd.sock"), "unix:./normd.sock");
  EXPECT_EQ(grpc_target("unix:/a"), "unix:/a");
}

TEST(Channel, a_host_and_port_become_a_dns_target) {
  EXPECT_EQ(grpc_target("localhost:7000"), "dns:///localhost:7000");
  EXPECT_EQ(grpc_target("ipv4:127.0.0.1:7000"), "ipv4:127.0.0.1:7000");
}

TEST(Channel, what_is_neither_is_refused_as_the_socket) {
  for (const char* target : {"", "normd", "localhost"}) {
    const Result<std::string> result = grpc_target(target);
    ASSERT_FALSE(result) << target;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(result.error().field, "socket");
  }
}

TEST(Channel, a_path_that_no_socket_address_holds_is_refused_by_its_length) {
  EXPECT_TRUE(grpc_target("/" + std::string(106, 'a')));
  const Result<std::string> result = grpc_target("/" + std::string(107, 'a'));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("107 bytes"), std::string::npos);
}

TEST(Channel, a_missing_socket_is_said_at_once) {
  const auto channel = make_channel("unix:/nonexistent/normd.sock");
  const auto begin = std::chrono::steady_clock::now();
  const Result<void> connected = wait_until_connected(*channel, "unix:/nonexistent/normd.sock",
                                                      {.time = std::chrono::seconds(20)});
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, ErrorCode::unavailable);
  EXPECT_NE(connected.error().message.find("no file is there"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Channel, a_file_that_is_no_socket_is_said) {
  FakeDaemon daemon;  // only for its directory
  std::ofstream(daemon.socket()) << "text";
  const std::string target = "unix:" + daemon.socket();
  const Result<void> connected =
      wait_until_connected(*make_channel(target), target, {.time = std::chrono::seconds(20)});
  ASSERT_FALSE(connected);
  EXPECT_NE(connected.error().message.find("is no socket"), std::string::npos);
}

}  // namespace
}  // namespace normd
