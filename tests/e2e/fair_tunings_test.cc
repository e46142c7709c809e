// The tuning queue is fair between the clients of one socket, which only their names tell apart.
#include <grpcpp/create_channel.h>

#include "held_compilation.h"

namespace normd {
namespace {

std::unique_ptr<v1::Normd::Stub> client_named(const std::string& name, const DaemonProcess& to) {
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix(name);
  return v1::Normd::NewStub(
      grpc::CreateCustomChannel(to.target(), grpc::InsecureChannelCredentials(), arguments));
}

TEST(FairTunings, a_client_with_one_shape_is_not_kept_behind_one_with_many) {
  const TestDirectory directory;
  const HeldCompilation held;
  const DaemonProcess daemon(directory.path(), {.flags = {"--tuning-budget-ms=8000"},
                                                .shell_prefix = held.shell_prefix()});
  const auto many = client_named("many", daemon);
  const auto few = client_named("few", daemon);
  constexpr int shapes = 8;
  held.hold();
  for (int i = 0; i < shapes; ++i) {
    ASSERT_TRUE(run(*many, ramp_request(2, 100 + i, v1::POLICY_FALLBACK)).status.ok());
  }
  ASSERT_TRUE(run(*few, ramp_request(2, 50, v1::POLICY_FALLBACK)).status.ok());
  held.release();
  const RunResult single = run(*few, ramp_request(2, 50, v1::POLICY_WAIT));
  ASSERT_TRUE(single.status.ok()) << single.status.error_message();
  // The one that was under way, its own, and perhaps the next.
  EXPECT_LE(status_of(*few).counters().tunings(), 3);
}

}  // namespace
}  // namespace normd
