#include "service/daemon/accept_loop.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <mutex>

#include "service/daemon/listening.h"

namespace normd {
namespace {

// Descriptors that the loop handed over, and clients to make it do so.
class Connections {
 public:
  explicit Connections(int port) : port_(port) {}

  Descriptor connect_one() const {
    Descriptor client(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{.sin_family = AF_INET,
                        .sin_port = htons(static_cast<std::uint16_t>(port_)),
                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      return Descriptor();
    }
    return client;
  }

  void take(int descriptor) {
    const std::lock_guard lock(mutex_);
    taken_.emplace_back(descriptor);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return taken_.size();
  }
  void close_all() {
    const std::lock_guard lock(mutex_);
    taken_.clear();
  }
  bool reaches(std::size_t wanted) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (count() < wanted && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return count() >= wanted;
  }

 private:
  const int port_;
  std::mutex mutex_;
  std::vector<Descriptor> taken_;
};

struct Loop {
  explicit Loop(int connections_max)
      : listener(*listen_tcp({"127.0.0.1", 0})),
        connections(listener.port),
        log(LogLevel::off, LogFormat::text),
        loop({.listeners = {listener.socket.get()},
              .connections_max = connections_max,
              .take = [this](int descriptor, int) { connections.take(descriptor); },
              .log = &log}) {}
  TcpListener listener;
  Connections connections;
  Log log;
  AcceptLoop loop;
};

TEST(AcceptLoop, connections_are_handed_over) {
  Loop loop(10);
  const Descriptor client = loop.connections.connect_one();
  EXPECT_TRUE(loop.connections.reaches(1));
}

TEST(AcceptLoop, beyond_the_cap_connections_are_closed_and_room_comes_back) {
  Loop loop(2);
  const Descriptor first = loop.connections.connect_one();
  const Descriptor second = loop.connections.connect_one();
  ASSERT_TRUE(loop.connections.reaches(2));
  const Descriptor third = loop.connections.connect_one();
  char byte = 0;
  EXPECT_EQ(read(third.get(), &byte, 1), 0) << "closed at once";
  EXPECT_EQ(loop.loop.refused(), 1);
  loop.connections.close_all();
  const Descriptor fourth = loop.connections.connect_one();
  EXPECT_TRUE(loop.connections.reaches(1));
}

TEST(AcceptLoop, it_goes_on_after_the_process_ran_out_of_descriptors) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the undefined-behaviour sanitizer looks at memory through a pipe of its own";
#endif
  Loop loop(1000);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  // The next descriptor that anybody opens is beyond the limit.
  std::vector<Descriptor> clients;
  clients.push_back(Descriptor(socket(AF_INET, SOCK_STREAM, 0)));
  const int highest = clients.back().get();
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(highest + 1);
  setrlimit(RLIMIT_NOFILE, &tight);
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<std::uint16_t>(loop.listener.port)),
                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  ASSERT_EQ(::connect(clients.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(loop.connections.count(), 0u) << "there was no descriptor for it";
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(loop.connections.reaches(1));
}

TEST(OpenConnections, a_descriptor_that_was_closed_and_reused_is_not_counted) {
  OpenConnections open;
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Descriptor kept(pair[0]);
  open.add(pair[0]);
  open.add(pair[1]);
  EXPECT_EQ(open.count(), 2);
  close(pair[1]);
  const Descriptor other(::socket(AF_UNIX, SOCK_STREAM, 0));  // very likely the same number
  EXPECT_EQ(open.count(), 1);
}

TEST(Peers, only_the_daemons_own_user_and_root_may_connect) {
  EXPECT_TRUE(peer_allowed(1000, 1000));
  EXPECT_TRUE(peer_allowed(0, 1000));
  EXPECT_FALSE(peer_allowed(1001, 1000));
  EXPECT_FALSE(peer_allowed(1000, 0));
}

}  // namespace
}  // namespace normd
