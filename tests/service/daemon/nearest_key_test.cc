#include "service/daemon/nearest_key.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(NearestKey, differing_fields_are_named_with_both_values) {
  const DeviceSpec host = host_device_spec();
  const auto text = [&](std::int64_t columns, DType x, const DeviceSpec& spec) {
    return to_text(make_key({.rows = 1, .columns = columns, .x = x, .y = DType::fp32}, spec,
                            make_fingerprint(spec), BucketMode::bucketed));
  };
  const std::string asked = text(64, DType::fp32, host);
  EXPECT_TRUE(differing_fields(asked, asked).empty());
  EXPECT_EQ(differing_fields(asked, text(128, DType::fp16, host)),
            (std::vector<std::string>{"columns: 64, stored 128", "x: fp32, stored fp16"}));
  const auto across = differing_fields(asked, text(64, DType::fp32, *architecture_preset("sm_90")));
  ASSERT_FALSE(across.empty());
  EXPECT_EQ(across[0], "kind: host, stored cuda");
}

}  // namespace
}  // namespace normd
