#include "service/cli/message_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "normd/v1/normd.pb.h"

namespace normd {
namespace {

TEST(MessageJson, names_are_those_of_the_protocol_and_numbers_are_numbers) {
  v1::RunResponse response;
  response.set_origin(v1::ORIGIN_MEMORY);
  response.set_kernel_ns(9'007'199'254'740'993);
  v1::Winner winner;
  winner.add_measurements()->set_median_ns(1.5);
  winner.add_ties("a");
  const nlohmann::json object = to_json(winner);
  EXPECT_EQ(object["measurements"][0]["median_ns"], 1.5);
  EXPECT_EQ(object["measurements"][0]["warm"], false);
  EXPECT_EQ(object["ties"][0], "a");
  EXPECT_EQ(object["tuned_at_unix_s"], 0);
  v1::ExplainResponse explained;
  explained.set_origin(v1::ORIGIN_STORE);
  EXPECT_EQ(to_json(explained)["origin"], "store");
  EXPECT_TRUE(to_json(explained)["winner"].is_null());
}

TEST(MessageJson, every_response_of_the_protocol_can_be_printed) {
  v1::GetStatusResponse status;
  status.add_devices();
  status.add_limits();
  status.mutable_counters();
  status.mutable_store();
  EXPECT_EQ(to_json(status)["devices"].size(), 1u);
  v1::TuneResponse tuned;
  tuned.add_trials()->add_measurements();
  tuned.mutable_progress();
  EXPECT_EQ(to_json(tuned)["trials"][0]["measurements"].size(), 1u);
}

TEST(MessageJson, an_enum_value_of_a_newer_daemon_is_its_number) {
  v1::ExplainResponse explained;
  explained.set_origin(static_cast<v1::Origin>(99));
  EXPECT_EQ(to_json(explained)["origin"], "99");
}

}  // namespace
}  // namespace normd
