#include "kernels/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/source.h"
#include "tests/kernels/catalog_samples.h"

namespace normd {
namespace {

DeviceSpec h200() {
  return *architecture_preset("sm_90");
}

Problem square(std::int64_t rows, std::int64_t columns, DType dtype = DType::bf16) {
  return {.rows = rows, .columns = columns, .x = dtype, .y = dtype, .gamma = dtype, .beta = dtype};
}

std::vector<DeviceSpec> all_specs() {
  std::vector<DeviceSpec> specs = {host_device_spec()};
  for (const std::string& name : supported_architectures()) {
    specs.push_back(*architecture_preset(name));
  }
  return specs;
}

TEST(CatalogTest, every_name_is_unique_and_found_with_its_text) {
  std::set<std::string_view> names;
  for (const Template& entry : catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(find_template(entry.name), &entry);
    EXPECT_FALSE(entry.text.empty()) << entry.name;
    // A kernel text opens with its plan, under its own name.
    EXPECT_TRUE(entry.text.starts_with("// " + std::string(entry.name) + ":")) << entry.name;
  }
  EXPECT_EQ(find_template("any_columns"), nullptr);
}

TEST(CatalogTest, the_ladder_of_the_six_teaching_templates_is_there) {
  for (const char* name : {"thread_three_pass", "thread_welford", "warp_welford", "block_shared",
                           "block_two_pass", "tiled_welford"}) {
    const Template* entry = find_template(name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(entry->grade, Grade::taught) << name;
    EXPECT_FALSE(enumerate(*entry, square(64, 1024), h200()).empty()) << name;
  }
}

TEST(CatalogTest, bytes_moved_by_the_ladder_are_those_of_the_lesson) {
  const Problem problem = square(1000, 1000, DType::fp32);
  const auto per_element = [&](const char* name) {
    return find_template(name)->bytes_moved(problem) / 1e6;
  };
  EXPECT_DOUBLE_EQ(per_element("thread_three_pass"), 24);
  EXPECT_DOUBLE_EQ(per_element("thread_welford"), 20);
  EXPECT_DOUBLE_EQ(per_element("warp_welford"), 20);
  EXPECT_DOUBLE_EQ(per_element("block_shared"), 16);
  EXPECT_DOUBLE_EQ(per_element("block_two_pass"), 16);
  EXPECT_DOUBLE_EQ(per_element("tiled_welford"), 20);
}

TEST(CatalogTest, every_width_has_an_exact_candidate_everywhere) {
  std::mt19937 random(announced_seed());
  for (const DeviceSpec& spec : all_specs()) {
    for (int i = 0; i < 40; ++i) {
      Problem problem = drawn_problem(random);
      if (i >= 20) {
        // Any magnitude up to the limit, mostly odd.
        const int bits = std::uniform_int_distribution<int>(0, 23)(random);
        problem.columns = std::uniform_int_distribution<std::int64_t>(1, 2 << bits)(random);
      }
      const auto candidates = ranked_candidates(problem, spec);
      ASSERT_FALSE(candidates.empty()) << to_text(problem) << " on " << spec.architecture();
    }
  }
}

TEST(CatalogTest, ranked_candidates_are_exact_and_never_taught) {
  for (const std::int64_t columns : {1, 64, 1000, 4096, 16384, 65536, 1 << 20}) {
    for (const Candidate& candidate : ranked_candidates(square(4096, columns), h200())) {
      EXPECT_EQ(template_of(candidate).grade, Grade::exact) << to_text(candidate);
    }
  }
}

TEST(CatalogTest, every_enumerated_candidate_validates_and_its_text_round_trips) {
  std::mt19937 random(announced_seed());
  for (const Sample& sample : drawn_pool(random, all_specs(), 12)) {
    const auto valid = validate(sample.candidate, sample.problem, sample.spec);
    ASSERT_TRUE(valid) << valid.error().message;
    const auto parsed = parse_candidate(to_text(sample.candidate));
    ASSERT_TRUE(parsed) << parsed.error().message;
    ASSERT_EQ(*parsed, sample.candidate);
  }
}

TEST(CatalogTest, a_candidate_that_enumerate_would_not_give_is_refused_with_the_reason) {
  const Problem problem = square(4096, 1024);
  const auto refusal = [&](std::string_view text) {
    const auto result = validate(*parse_candidate(text), problem, h200());
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_THAT(refusal("no_such threads=32"), testing::HasSubstr("no template no_such"));
  EXPECT_THAT(refusal("warp_welford threads=128"), testing::HasSubstr("2 axes"));
  EXPECT_THAT(refusal("warp_welford unroll=1 threads=128"), testing::HasSubstr("called threads"));
  EXPECT_THAT(refusal("warp_welford threads=96 unroll=1"), testing::HasSubstr("cannot be 96"));
  EXPECT_THAT(refusal("sub_warp lanes_per_row=1 threads=128 vector_bytes=16 rows_per_group=1 "
                      "threads_per_sm=0 affine_shared=0 x_evict_last=0"),
              testing::HasSubstr("does not fit"));
  EXPECT_EQ(refusal("warp_welford threads=128 unroll=1"), "accepted");
}

// What the texts assert at compile time, once more in numbers.
TEST(CatalogTest, the_grid_of_every_launch_covers_any_number_of_rows_once) {
  std::mt19937 random(announced_seed());
  const std::vector<Sample> samples = covering(random, drawn_pool(random, all_specs(), 12));
  std::uniform_int_distribution<int> bits(0, 36);
  for (int i = 0; i < 1000; ++i) {
    const Sample& sample = samples[static_cast<std::size_t>(i) % samples.size()];
    const Launch launch = launch_of(sample.candidate, sample.problem, sample.spec);
    const auto rows =
        std::uniform_int_distribution<std::int64_t>(1, std::int64_t{1} << bits(random))(random);
    const std::int64_t blocks = grid_blocks(launch, rows);
    const std::int64_t groups = blocks / launch.blocks_per_row;
    const std::int64_t strides = (rows - 1) / (groups * launch.rows_per_block) + 1;
    ASSERT_GE(blocks, 1);
    ASSERT_LE(blocks, 2147483647);
    // No block starts beyond the last row, and one stride is enough unless the grid is full.
    ASSERT_EQ(blocks % launch.blocks_per_row, 0) << to_text(sample);
    ASSERT_LT((groups - 1) * launch.rows_per_block, rows) << to_text(sample);
    ASSERT_TRUE(strides == 1 || blocks + launch.blocks_per_row > launch.blocks_max)
        << to_text(sample);
    ASSERT_EQ(covers(launch, rows).has_value(), launch.strides || strides == 1) << to_text(sample);
    ASSERT_EQ(launch.block % 32, 0) << to_text(sample);
    ASSERT_LE(launch.block, sample.spec.threads_per_block_max) << to_text(sample);
    ASSERT_LE(launch.shared_bytes, sample.spec.shared_bytes_per_block_max) << to_text(sample);
  }
}

TEST(CatalogTest, rows_per_block_follow_from_the_axes) {
  std::mt19937 random(announced_seed());
  for (const Sample& sample : drawn_pool(random, all_specs(), 6)) {
    const Candidate& candidate = sample.candidate;
    const Launch launch = launch_of(candidate, sample.problem, sample.spec);
    std::int64_t expected = 1;
    if (candidate.template_name == "sub_warp") {
      expected = candidate.value("threads") / candidate.value("lanes_per_row") *
                 candidate.value("rows_per_group");
    } else if (candidate.template_name == "block_registers" ||
               candidate.template_name == "cluster_pipeline" ||
               candidate.template_name == "grid_pipeline") {
      expected = candidate.value("rows_per_block");
    } else if (candidate.template_name == "phase_aligned") {
      expected = candidate.value("groups") * launch.blocks_per_row;  // a block for each phase
    } else if (candidate.template_name == "warp_welford") {
      expected = candidate.value("threads") / 32;
    } else if (candidate.template_name == "thread_rows") {
      expected = candidate.value("threads") * candidate.value("rows_per_thread");
    } else if (candidate.template_name.starts_with("thread_")) {
      expected = candidate.value("threads");
    }
    ASSERT_EQ(launch.rows_per_block, expected) << to_text(candidate);
    ASSERT_EQ(launch.block, candidate.value("threads")) << to_text(candidate);
  }
}

TEST(CatalogTest, a_launch_does_not_depend_on_rows) {
  std::mt19937 random(announced_seed());
  for (Sample& sample : drawn_pool(random, {h200()}, 8)) {
    const Launch launch = launch_of(sample.candidate, sample.problem, sample.spec);
    sample.problem.rows = sample.problem.rows * 3 + 1;
    ASSERT_TRUE(validate(sample.candidate, sample.problem, sample.spec)) << to_text(sample);
    ASSERT_EQ(launch_of(sample.candidate, sample.problem, sample.spec), launch) << to_text(sample);
  }
}

TEST(CatalogTest, a_row_that_shared_memory_cannot_hold_has_no_block_shared_candidate) {
  const Template& entry = *find_template("block_shared");
  const DeviceSpec spec = h200();
  const std::int64_t fits = spec.shared_bytes_per_block_max / 4 - 128;
  EXPECT_EQ(enumerate(entry, square(4, fits), spec).size(), 2u);  // threads=128, both unrolls
  EXPECT_TRUE(enumerate(entry, square(4, fits + 1), spec).empty());
}

TEST(CatalogTest, accesses_are_no_wider_than_the_rows_allow) {
  Problem problem = square(4, 1000);
  problem.columns = 1002;  // rows start on 4 bytes only
  for (const Candidate& candidate : ranked_candidates(problem, h200())) {
    if (candidate.template_name == "phase_aligned") continue;  // its packs do not start with rows
    EXPECT_LE(candidate.value("vector_bytes"), 4) << to_text(candidate);
  }
  problem.rows_layout = RowsLayout::strided;  // strides are aligned, whatever the width
  int widest = 0;
  for (const Candidate& candidate : ranked_candidates(problem, h200())) {
    widest = std::max(widest, candidate.value("vector_bytes"));
  }
  EXPECT_EQ(widest, 16);
}

// What the gate runs on few blocks follows from it.
TEST(CatalogTest, a_launch_strides_where_its_text_asks_for_the_size_of_the_grid) {
  std::mt19937 random(announced_seed());
  for (const Sample& sample : covering(random, drawn_pool(random, all_specs(), 12))) {
    const Launch launch = launch_of(sample.candidate, sample.problem, sample.spec);
    const std::string text = render(sample.candidate, sample.problem, sample.spec).text;
    bool asks = false;
    for (std::size_t at = text.find("grid_blocks()"); at != std::string::npos;
         at = text.find("grid_blocks()", at + 1)) {
      const bool platform =
          text.substr(at, 15) == "grid_blocks() {" || text.substr(at - 2, 2) == "->";
      asks = asks || !platform;
    }
    EXPECT_EQ(launch.strides, asks) << to_text(sample);
  }
}

// Several rows of a thread share an access, or an access the ends of two rows.
TEST(CatalogTest, rows_of_a_few_elements_are_read_by_full_accesses_whatever_their_width) {
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    for (std::int64_t columns = 1; columns <= 32; ++columns) {
      const Problem problem = square((1 << 26) / columns, columns, dtype);
      const auto candidates = enumerate(*find_template("thread_rows"), problem, h200());
      ASSERT_FALSE(candidates.empty()) << to_text(problem);
      for (const Candidate& candidate : candidates) {
        EXPECT_EQ(candidate.value("vector_bytes"), 16) << to_text(candidate);
      }
      // Among the first that a tuning tries, where rows begin anywhere.
      if (columns % 2 == 0) continue;
      const auto ranked = ranked_candidates(problem, h200());
      const auto place = std::find_if(ranked.begin(), ranked.end(), [](const Candidate& candidate) {
        return candidate.template_name == "thread_rows";
      });
      EXPECT_LT(place - ranked.begin(), 10) << to_text(problem);
    }
  }
  // Wider ones of an odd number of accesses.
  const auto offered = [](std::int64_t columns, DType dtype) {
    const Problem problem = square(100000, columns, dtype);
    return !enumerate(*find_template("thread_rows"), problem, h200()).empty();
  };
  EXPECT_TRUE(offered(33, DType::bf16));
  EXPECT_TRUE(offered(33, DType::fp32));
  EXPECT_TRUE(offered(40, DType::bf16));
  EXPECT_TRUE(offered(52, DType::fp32));
  EXPECT_TRUE(offered(88, DType::bf16));
  EXPECT_TRUE(offered(104, DType::bf16));
  EXPECT_FALSE(offered(120, DType::bf16));
  EXPECT_FALSE(offered(48, DType::bf16));
  EXPECT_FALSE(offered(64, DType::bf16));
  EXPECT_FALSE(offered(65, DType::bf16));
  Problem strided = square(100000, 7);
  strided.rows_layout = RowsLayout::strided;
  EXPECT_TRUE(enumerate(*find_template("thread_rows"), strided, h200()).empty());
}

TEST(CatalogTest, two_rows_share_their_threads_where_rows_are_long) {
  const auto together = [](std::int64_t columns, DType dtype) {
    int count = 0;
    for (const Candidate& candidate :
         enumerate(*find_template("block_registers"), square(4096, columns, dtype), h200())) {
      if (candidate.value("rows_per_group") == 1) continue;
      EXPECT_EQ(candidate.value("rows_per_block"), 2) << to_text(candidate);
      ++count;
    }
    return count;
  };
  EXPECT_EQ(together(4096, DType::bf16), 0);
  EXPECT_GT(together(5120, DType::bf16), 0);
  EXPECT_GT(together(12288, DType::fp32), 0);
}

TEST(CatalogTest, rows_that_begin_between_accesses_are_for_phase_aligned_and_no_others) {
  const auto count = [](std::int64_t columns, int align_bytes, DType dtype = DType::bf16) {
    Problem problem = square(4096, columns, dtype);
    problem.align_bytes = align_bytes;
    return enumerate(*find_template("phase_aligned"), problem, h200()).size();
  };
  EXPECT_EQ(count(4096, 16), 0u);  // others take these by whole accesses
  EXPECT_GT(count(4095, 16), 0u);  // by their width
  EXPECT_GT(count(4096, 8), 0u);   // by where the tensors begin
  EXPECT_GT(count(4096, 2), 0u);
  EXPECT_GT(count(4095, 2), 0u);
  EXPECT_GT(count(4096, 4, DType::fp32), 0u);
  // All rows begin alike, or every eighth.
  for (const auto& [columns, phases] : {std::pair{4096, 1}, {4100, 2}, {4095, 8}}) {
    Problem problem = square(4096, columns);
    problem.align_bytes = 2;
    for (const Candidate& candidate : enumerate(*find_template("phase_aligned"), problem, h200())) {
      EXPECT_EQ(launch_of(candidate, problem, h200()).blocks_per_row, phases) << columns;
    }
  }
}

}  // namespace
}  // namespace normd
