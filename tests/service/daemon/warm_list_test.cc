#include "service/daemon/warm_list.h"

#include <gtest/gtest.h>

namespace normd {
namespace {

TEST(WarmList, a_shape_has_a_dtype_and_fields) {
  const auto shapes = parse_warm_list(
      "128x1024\n256x4096 bf16 gamma=fp32 beta=none y=fp32 stats=mean_rstd mode=batch_invariant\n",
      "list");
  ASSERT_TRUE(shapes) << shapes.error().message;
  ASSERT_EQ(shapes->size(), 2u);
  EXPECT_EQ((*shapes)[0].problem, (Problem{.rows = 128, .columns = 1024}));
  EXPECT_EQ((*shapes)[1].problem, (Problem{.rows = 256,
                                           .columns = 4096,
                                           .x = DType::bf16,
                                           .y = DType::fp32,
                                           .gamma = DType::fp32,
                                           .stats = Stats::mean_rstd}));
  EXPECT_EQ((*shapes)[1].mode, BucketMode::batch_invariant);
}

TEST(WarmList, marks_returns_comments_blanks_and_repeats_do_not_matter) {
  const auto shapes = parse_warm_list(
      "\xef\xbb\xbf# shapes\r\n\r\n  8x16\tfp16 # tail\r\n8x16 fp16\r\n8x16 fp32", "list");
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(shapes->size(), 2u);
  EXPECT_TRUE(parse_warm_list("", "list")->empty());
  EXPECT_TRUE(parse_warm_list("\xef\xbb\xbf", "list")->empty());
}

TEST(WarmList, a_bad_line_is_named_with_its_number) {
  for (const char* line :
       {"8", "8x", "x8", "8x16x4", "0x16", "-1x16", "8x0", "8x16 fp64", "8x16 gamma=fp64",
        "8x16 colour=red", "8x16 fp16 fp32", "8x99999999999999999999"}) {
    const auto shapes = parse_warm_list("# first\n\n" + std::string(line) + "\n8x16\n", "list");
    ASSERT_FALSE(shapes) << line;
    EXPECT_TRUE(shapes.error().message.starts_with("list:3: ")) << shapes.error().message;
  }
}

}  // namespace
}  // namespace normd
