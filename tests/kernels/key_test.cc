#include "kernels/key.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

const DeviceSpec h200 = *architecture_preset("sm_90");
const Problem usual{.rows = 200,
                    .columns = 8192,
                    .x = DType::bf16,
                    .y = DType::bf16,
                    .gamma = DType::bf16,
                    .stats = Stats::none,
                    .align_bytes = 16};

TEST(key, the_texts_of_fingerprint_and_key_are_pinned) {
  const Fingerprint fingerprint = make_fingerprint(h200, "none", 700);
  EXPECT_EQ(to_text(fingerprint),
            "cuda cc=90 sm=132 l2_bytes=62914560 sm_clock_mhz=1980 memory_clock_mhz=3201 "
            "bus_bits=6144 mig=none power_class_w=700 protocol=1");
  EXPECT_EQ(to_text(make_key(usual, h200, fingerprint, BucketMode::bucketed)),
            "layer_norm rows=133..264 columns=8192 x=bf16 y=bf16 gamma=bf16 beta=none stats=none "
            "rows_layout=contiguous align_bytes=16 mode=bucketed on cuda cc=90 sm=132 "
            "l2_bytes=62914560 sm_clock_mhz=1980 memory_clock_mhz=3201 bus_bits=6144 mig=none "
            "power_class_w=700 protocol=1");
  EXPECT_EQ(to_text(make_fingerprint(host_device_spec())),
            "host cc=0 sm=4 l2_bytes=524288 sm_clock_mhz=0 memory_clock_mhz=0 bus_bits=0 mig=none "
            "power_class_w=0 protocol=1");
}

TEST(key, a_fingerprint_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_fingerprint(to_text(f)) == f", [] {
    const Fingerprint fingerprint = any_fingerprint();
    const auto parsed = parse_fingerprint(to_text(fingerprint));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == fingerprint);
  });
}

Key any_key() {
  const auto mode = *rc::gen::element(BucketMode::bucketed, BucketMode::single_row_count,
                                      BucketMode::batch_invariant);
  return make_key(any_problem(), any_device_spec(), any_fingerprint(), mode);
}

TEST(key, a_key_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_key(to_text(k)) == k", [] {
    const Key key = any_key();
    const auto parsed = parse_key(to_text(key));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == key);
  });
}

TEST(key, a_damaged_text_is_refused_or_another_key) {
  NORMD_EXPECT_PROPERTY("no two texts for one key, no crash", [] {
    std::string text = to_text(any_key());
    const std::string original = text;
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(0, 40);
    text.replace(at, length, *rc::gen::element<std::string>("", " ", "=", "0", " on ", " rows=5 "));
    RC_PRE(text != original);
    const auto parsed = parse_key(text);
    if (parsed) RC_ASSERT(to_text(*parsed) == text);
  });
}

TEST(key, malformed_texts_are_refused) {
  for (const char* wrong :
       {"", "on", " on ", "layer_norm", "layer_norm rows=1..1 mode=bucketed on cuda",
        "layer_norm columns=1 rows=1..1 mode=bucketed on cuda cc=90",
        "layer_norm rows= mode=bucketed on cuda", " rows= mode= on ", " mode= rows= on "}) {
    EXPECT_FALSE(parse_key(wrong)) << "'" << wrong << "'";
  }
}

using ProblemChange = std::function<void(Problem&)>;
using FingerprintChange = std::function<void(Fingerprint&)>;

TEST(key, every_field_of_a_problem_but_its_rows_changes_the_text) {
  const std::vector<ProblemChange> changes{
      [](Problem& p) { p.columns += 8; },
      [](Problem& p) { p.x = p.x == DType::fp16 ? DType::bf16 : DType::fp16; },
      [](Problem& p) { p.y = p.y == DType::fp16 ? DType::bf16 : DType::fp16; },
      [](Problem& p) { p.gamma = p.gamma ? std::nullopt : std::optional(DType::fp32); },
      [](Problem& p) { p.beta = p.beta ? std::nullopt : std::optional(DType::fp32); },
      [](Problem& p) { p.stats = p.stats == Stats::none ? Stats::rstd : Stats::none; },
      [](Problem& p) {
        p.rows_layout =
            p.rows_layout == RowsLayout::strided ? RowsLayout::contiguous : RowsLayout::strided;
      },
      [](Problem& p) { p.align_bytes = p.align_bytes == 4 ? 8 : 4; },
  };
  NORMD_EXPECT_PROPERTY("keyed problem fields", [&] {
    const Problem problem = any_problem();
    const Fingerprint fingerprint = any_fingerprint();
    Problem other = problem;
    (*rc::gen::elementOf(changes))(other);
    RC_ASSERT(to_text(make_key(problem, h200, fingerprint, BucketMode::batch_invariant)) !=
              to_text(make_key(other, h200, fingerprint, BucketMode::batch_invariant)));
  });
}

TEST(key, every_field_of_a_fingerprint_changes_the_text) {
  const std::vector<FingerprintChange> changes{
      [](Fingerprint& f) {
        f.kind = f.kind == DeviceKind::cuda ? DeviceKind::host : DeviceKind::cuda;
      },
      [](Fingerprint& f) { ++f.capability; },
      [](Fingerprint& f) { ++f.sm_count; },
      [](Fingerprint& f) { ++f.l2_bytes; },
      [](Fingerprint& f) { ++f.sm_clock_mhz; },
      [](Fingerprint& f) { ++f.memory_clock_mhz; },
      [](Fingerprint& f) { ++f.memory_bus_bits; },
      [](Fingerprint& f) { f.mig += "x"; },
      [](Fingerprint& f) { f.power_class_w += 50; },
      [](Fingerprint& f) { ++f.protocol; },
  };
  NORMD_EXPECT_PROPERTY("keyed fingerprint fields", [&] {
    const Fingerprint fingerprint = any_fingerprint();
    Fingerprint other = fingerprint;
    (*rc::gen::elementOf(changes))(other);
    RC_ASSERT(to_text(fingerprint) != to_text(other));
    RC_ASSERT(to_text(make_key(usual, h200, fingerprint, BucketMode::bucketed)) !=
              to_text(make_key(usual, h200, other, BucketMode::bucketed)));
  });
}

TEST(key, rows_of_one_bucket_share_a_key_and_rows_of_two_do_not) {
  const Fingerprint fingerprint = make_fingerprint(h200);
  const auto key_at = [&](std::int64_t rows, BucketMode mode) {
    Problem problem = usual;
    problem.rows = rows;
    return to_text(make_key(problem, h200, fingerprint, mode));
  };
  EXPECT_EQ(key_at(133, BucketMode::bucketed), key_at(264, BucketMode::bucketed));
  EXPECT_NE(key_at(132, BucketMode::bucketed), key_at(133, BucketMode::bucketed));
  EXPECT_NE(key_at(133, BucketMode::single_row_count), key_at(134, BucketMode::single_row_count));
  EXPECT_EQ(key_at(1, BucketMode::batch_invariant), key_at(100'000, BucketMode::batch_invariant));
  EXPECT_NE(key_at(77, BucketMode::bucketed), key_at(77, BucketMode::single_row_count));
}

// Two devices of one make share winners: nothing that tells them apart is in the key.
TEST(key, what_is_not_silicon_leaves_the_text_alone) {
  DeviceSpec other = h200;
  other.name = "another name of the same chip";
  other.memory_bytes -= 1 << 20;  // what the driver keeps for itself differs between versions
  const Fingerprint fingerprint = make_fingerprint(h200, "none", 700);
  EXPECT_EQ(to_text(fingerprint), to_text(make_fingerprint(other, "none", 700)));
  EXPECT_EQ(to_text(fingerprint), to_text(make_fingerprint(h200, "none", 690)));
  EXPECT_NE(to_text(fingerprint), to_text(make_fingerprint(h200, "none", 500)));
  EXPECT_EQ(to_text(make_key(usual, h200, fingerprint, BucketMode::bucketed)),
            to_text(make_key(usual, other, fingerprint, BucketMode::bucketed)));
}

TEST(key, alignment_beyond_the_widest_access_is_no_difference) {
  Problem wide = usual;
  wide.align_bytes = 64;
  const Fingerprint fingerprint = make_fingerprint(h200);
  EXPECT_EQ(make_key(wide, h200, fingerprint, BucketMode::bucketed),
            make_key(usual, h200, fingerprint, BucketMode::bucketed));
}

TEST(key, it_gives_its_problem_back_at_rows_of_its_bucket_only) {
  const Key key = make_key(usual, h200, make_fingerprint(h200), BucketMode::bucketed);
  EXPECT_EQ(key.problem.rows, 0);
  EXPECT_EQ(problem_at(key, 200), usual);
  EXPECT_DEATH(problem_at(key, 265), "check failed");
}

TEST(key, the_power_class_is_rounded_to_fifty_watts) {
  EXPECT_EQ(make_fingerprint(h200, "none", 0).power_class_w, 0);
  EXPECT_EQ(make_fingerprint(h200, "none", -1).power_class_w, 0);
  EXPECT_EQ(make_fingerprint(h200, "none", 24).power_class_w, 0);
  EXPECT_EQ(make_fingerprint(h200, "none", 25).power_class_w, 50);
  EXPECT_EQ(make_fingerprint(h200, "none", 649).power_class_w, 650);
}

}  // namespace
}  // namespace normd
