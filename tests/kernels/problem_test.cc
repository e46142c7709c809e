#include "kernels/problem.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/limits.h"
#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

const Problem usual{.rows = 4096,
                    .columns = 8192,
                    .x = DType::bf16,
                    .y = DType::bf16,
                    .gamma = DType::bf16,
                    .stats = Stats::none,
                    .align_bytes = 16};
constexpr std::string_view usual_text =
    "layer_norm rows=4096 columns=8192 x=bf16 y=bf16 gamma=bf16 beta=none stats=none "
    "rows_layout=contiguous align_bytes=16";

// The field that validate() names, or "" if the problem is accepted.
std::string refused_field(const Problem& problem) {
  const auto outcome = validate(problem);
  if (outcome) return "";
  EXPECT_EQ(outcome.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(outcome.error().message.find(outcome.error().field), std::string::npos);
  return outcome.error().field;
}

template <typename Change>
Problem changed(Change change) {
  Problem problem = usual;
  change(problem);
  return problem;
}

TEST(problem, the_text_is_the_documented_one) {
  EXPECT_EQ(to_text(usual), usual_text);
  EXPECT_EQ(parse_problem(usual_text).value(), usual);
  const Problem other{.rows = 0,
                      .columns = 1,
                      .x = DType::fp32,
                      .y = DType::fp16,
                      .beta = DType::fp32,
                      .stats = Stats::mean_rstd,
                      .rows_layout = RowsLayout::strided,
                      .align_bytes = 2};
  EXPECT_EQ(to_text(other),
            "layer_norm rows=0 columns=1 x=fp32 y=fp16 gamma=none beta=fp32 stats=mean_rstd "
            "rows_layout=strided align_bytes=2");
}

TEST(problem, every_valid_problem_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_problem(to_text(p)) == p", [] {
    const Problem problem = any_problem();
    RC_ASSERT(validate(problem).has_value());
    const auto parsed = parse_problem(to_text(problem));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == problem);
  });
}

TEST(problem, a_text_with_one_character_changed_is_refused_or_another_problem) {
  NORMD_EXPECT_PROPERTY("no two texts for one problem", [] {
    const Problem problem = any_problem();
    std::string text = to_text(problem);
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const char other = *rc::gen::elementOf(std::string(" =0159abxy-+_.\n"));
    RC_PRE(text[at] != other);
    text[at] = other;
    const auto parsed = parse_problem(text);
    if (parsed) RC_ASSERT(to_text(*parsed) == text);
    if (parsed) RC_ASSERT(*parsed != problem);
  });
}

TEST(problem, a_misspelt_text_names_the_field) {
  const auto field_of = [](std::string text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_problem(text);
    return parsed ? std::string("accepted") : parsed.error().field;
  };
  const std::string text(usual_text);
  EXPECT_EQ(field_of(text, "layer_norm", "rms_norm"), "op");
  EXPECT_EQ(field_of(text, "rows=4096", "rows=many"), "rows");
  EXPECT_EQ(field_of(text, "rows=4096", "rows=-1"), "rows");
  EXPECT_EQ(field_of(text, "columns=8192", "columns=0"), "columns");
  EXPECT_EQ(field_of(text, "x=bf16", "x=fp8"), "x");
  EXPECT_EQ(field_of(text, "y=bf16", "y=none"), "y");
  EXPECT_EQ(field_of(text, "gamma=bf16", "gamma="), "gamma");
  EXPECT_EQ(field_of(text, "beta=none", "beta=None"), "beta");
  EXPECT_EQ(field_of(text, "stats=none", "stats=rstd_mean"), "stats");
  EXPECT_EQ(field_of(text, "contiguous", "packed"), "rows_layout");
  EXPECT_EQ(field_of(text, "align_bytes=16", "align_bytes=12"), "align_bytes");
  EXPECT_EQ(field_of(text, "align_bytes=16", "align_bytes=4294967312"), "align_bytes");
}

TEST(problem, sizes_out_of_range_are_refused_by_name) {
  EXPECT_EQ(refused_field(usual), "");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.rows = 0; })), "");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.rows = -1; })), "rows");
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.rows = least; })), "rows");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.rows = most; })), "rows");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.rows = limits::rows_max + 1; })), "rows");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.columns = 0; })), "columns");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.columns = -8192; })), "columns");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.columns = most; })), "columns");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.columns = limits::columns_max; })), "");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.columns = limits::columns_max + 1; })),
            "columns");
}

TEST(problem, a_product_over_the_limit_or_over_64_bits_is_refused) {
  const auto refused = [](std::int64_t rows, std::int64_t columns) {
    return refused_field(changed([=](Problem& p) {
      p.rows = rows;
      p.columns = columns;
    }));
  };
  EXPECT_EQ(refused(limits::elements_max / 4096, 4096), "");
  EXPECT_EQ(refused(limits::elements_max / 4096 + 1, 4096), "rows");
  EXPECT_EQ(refused(limits::rows_max, limits::columns_max), "rows");
  EXPECT_EQ(refused(std::int64_t{1} << 62, 4), "rows");  // wraps around to zero
  EXPECT_EQ(refused(std::int64_t{1} << 32, std::int64_t{1} << 32), "columns");
}

TEST(problem, alignment_is_a_power_of_two_from_the_smallest_element) {
  for (const int align_bytes : {2, 4, 8, 16, 32, 64}) {
    EXPECT_EQ(refused_field(changed([=](Problem& p) { p.align_bytes = align_bytes; })), "");
  }
  for (const int align_bytes : {-16, 0, 1, 3, 6, 12, 24, 128, std::numeric_limits<int>::min()}) {
    EXPECT_EQ(refused_field(changed([=](Problem& p) { p.align_bytes = align_bytes; })),
              "align_bytes");
  }
  Problem wide{.rows = 1, .columns = 4, .align_bytes = 2};
  EXPECT_EQ(refused_field(wide), "align_bytes");
  wide.beta = DType::fp16;
  EXPECT_EQ(refused_field(wide), "");
}

TEST(problem, enum_values_from_outside_are_refused_by_name) {
  const auto unknown = static_cast<DType>(99);
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.op = static_cast<Op>(2); })), "op");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.x = unknown; })), "x");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.y = unknown; })), "y");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.gamma = unknown; })), "gamma");
  EXPECT_EQ(refused_field(changed([=](Problem& p) { p.beta = static_cast<DType>(0); })), "beta");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.stats = static_cast<Stats>(4); })), "stats");
  EXPECT_EQ(refused_field(changed([](Problem& p) { p.rows_layout = static_cast<RowsLayout>(0); })),
            "rows_layout");
}

TEST(problem, row_starts_are_only_as_aligned_as_the_width_allows) {
  const auto align_of = [](std::int64_t columns, DType x, DType y, RowsLayout layout) {
    return row_align_bytes(
        {.rows = 4, .columns = columns, .x = x, .y = y, .rows_layout = layout, .align_bytes = 16});
  };
  EXPECT_EQ(align_of(8, DType::bf16, DType::bf16, RowsLayout::contiguous), 16);
  EXPECT_EQ(align_of(12, DType::bf16, DType::bf16, RowsLayout::contiguous), 8);
  EXPECT_EQ(align_of(7, DType::bf16, DType::bf16, RowsLayout::contiguous), 2);
  EXPECT_EQ(align_of(7, DType::fp32, DType::fp32, RowsLayout::contiguous), 4);
  EXPECT_EQ(align_of(4, DType::fp32, DType::bf16, RowsLayout::contiguous), 8);
  EXPECT_EQ(align_of(7, DType::bf16, DType::bf16, RowsLayout::strided), 16);
}

TEST(problem, useful_bytes_count_each_tensor_once) {
  EXPECT_EQ(useful_bytes(usual), 4096.0 * 8192 * 4 + 8192 * 2);
  EXPECT_EQ(useful_bytes({.rows = 3,
                          .columns = 5,
                          .y = DType::fp16,
                          .gamma = DType::fp32,
                          .beta = DType::bf16,
                          .stats = Stats::mean_rstd}),
            3 * 5 * 6 + 5 * 4 + 5 * 2 + 3 * 8);
}

TEST(problem, statistics_are_two_bits) {
  for (const bool mean : {false, true}) {
    for (const bool rstd : {false, true}) {
      const Stats stats = make_stats(mean, rstd);
      EXPECT_EQ(wants_mean(stats), mean);
      EXPECT_EQ(wants_rstd(stats), rstd);
      EXPECT_EQ(parse_stats(stats_name(stats)), stats);
    }
  }
}

}  // namespace
}  // namespace normd
