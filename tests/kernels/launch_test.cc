#include "kernels/launch.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

const Launch usual{.entries = {"normd_kernel"}, .block = 256, .shared_bytes = 64};

__extension__ using Wide = __int128;

// The definition in wide arithmetic: enough groups for all rows, but no more than fit.
std::int64_t naive_grid(const Launch& launch, std::int64_t rows) {
  const auto wide_rows = static_cast<Wide>(rows);
  Wide groups = wide_rows / launch.rows_per_block;
  if (groups * launch.rows_per_block < wide_rows) ++groups;
  while (groups > 1 && groups * launch.blocks_per_row > launch.blocks_max) {
    groups = launch.blocks_max / launch.blocks_per_row;
    if (groups == 0) groups = 1;
  }
  return static_cast<std::int64_t>(groups * launch.blocks_per_row);
}

TEST(launch, the_grid_covers_a_thousand_random_row_counts) {
  std::mt19937_64 random(20240229);
  int beyond_32_bits = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto rows = static_cast<std::int64_t>(random() >> (20 + i % 44));
    Launch launch = usual;
    launch.rows_per_block = 1 + static_cast<std::int64_t>(random() % 32);
    launch.blocks_per_row = i % 3 == 0 ? 1 + static_cast<int>(random() % 16) : 1;
    launch.blocks_max = i % 2 == 0 ? 2147483647 : 1 + static_cast<std::int64_t>(random() % 4096);
    const std::int64_t blocks = grid_blocks(launch, rows);
    ASSERT_EQ(blocks, naive_grid(launch, rows)) << to_text(launch) << " rows=" << rows;
    ASSERT_LE(blocks, std::max<std::int64_t>(launch.blocks_max, launch.blocks_per_row));
    ASSERT_EQ(blocks % launch.blocks_per_row, 0);
    if (rows > 2147483648) ++beyond_32_bits;
  }
  EXPECT_GT(beyond_32_bits, 100);
}

TEST(launch, the_edges_of_the_grid_are_exact) {
  Launch launch = usual;
  launch.rows_per_block = 4;
  EXPECT_EQ(grid_blocks(launch, 0), 0);
  EXPECT_EQ(grid_blocks(launch, -3), 0);
  EXPECT_EQ(grid_blocks(launch, 1), 1);
  EXPECT_EQ(grid_blocks(launch, 4), 1);
  EXPECT_EQ(grid_blocks(launch, 5), 2);
  EXPECT_EQ(grid_blocks(launch, std::int64_t{4} * 2147483647), 2147483647);
  EXPECT_EQ(grid_blocks(launch, std::int64_t{4} * 2147483647 + 1), 2147483647);
  EXPECT_EQ(grid_blocks(launch, std::numeric_limits<std::int64_t>::max()), 2147483647);
}

TEST(launch, a_grid_that_leaves_rows_out_is_refused_unless_its_blocks_stride) {
  Launch launch = usual;
  launch.rows_per_block = 4;
  launch.blocks_per_row = 2;
  launch.blocks_max = 7;  // three groups of blocks
  EXPECT_TRUE(covers(launch, 1 << 20));
  launch.strides = false;
  EXPECT_TRUE(covers(launch, 0));
  EXPECT_TRUE(covers(launch, 12));
  const auto left_out = covers(launch, 13);
  ASSERT_FALSE(left_out);
  EXPECT_EQ(left_out.error().field, "rows");
  launch.blocks_max = 2147483647;
  EXPECT_TRUE(covers(launch, std::int64_t{4} * (2147483647 / 2)));
  EXPECT_FALSE(covers(launch, std::int64_t{4} * (2147483647 / 2) + 1));
}

TEST(launch, the_text_is_pinned) {
  EXPECT_EQ(
      to_text(usual),
      "entries=normd_kernel block=256 cluster=1 shared_bytes=64 cooperative=0 "
      "programmatic=0 rows_per_block=1 blocks_per_row=1 resident=0 strides=1 blocks_max=2147483647 "
      "workspace_bytes=0 workspace_bytes_per_row=0");
}

TEST(launch, every_launch_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_launch(to_text(l)) == l", [] {
    const Launch launch = any_launch();
    const auto parsed = parse_launch(to_text(launch));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == launch);
  });
}

TEST(launch, a_text_out_of_range_names_the_field) {
  const auto field_of = [](std::string_view from, std::string_view to) {
    std::string text = to_text(usual);
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_launch(text);
    return parsed ? std::string("accepted") : parsed.error().field;
  };
  EXPECT_EQ(field_of("entries=normd_kernel", "entries="), "entries");
  EXPECT_EQ(field_of("entries=normd_kernel", "entries=a,,b"), "entries");
  EXPECT_EQ(field_of("block=256", "block=0"), "block");
  EXPECT_EQ(field_of("block=256", "block=1025"), "block");
  EXPECT_EQ(field_of("cluster=1", "cluster=17"), "cluster");
  EXPECT_EQ(field_of("shared_bytes=64", "shared_bytes=-1"), "shared_bytes");
  EXPECT_EQ(field_of("cooperative=0", "cooperative=2"), "cooperative");
  EXPECT_EQ(field_of("programmatic=0", "programmatic=2"), "programmatic");
  EXPECT_EQ(field_of("resident=0", "resident=2"), "resident");
  EXPECT_EQ(field_of("strides=1", "strides=2"), "strides");
  EXPECT_EQ(field_of("rows_per_block=1", "rows_per_block=0"), "rows_per_block");
  EXPECT_EQ(field_of("blocks_per_row=1", "blocks_per_row=0"), "blocks_per_row");
  EXPECT_EQ(field_of("blocks_max=2147483647", "blocks_max=2147483648"), "blocks_max");
  EXPECT_EQ(field_of("workspace_bytes=0", "workspace_bytes=-4"), "workspace_bytes");
  EXPECT_EQ(field_of(" workspace_bytes_per_row=0", ""), "workspace_bytes_per_row");
  EXPECT_EQ(field_of("block=256", "block=0256"), "block");
}

}  // namespace
}  // namespace normd
