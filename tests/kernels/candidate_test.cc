#include "kernels/candidate.h"

#include <gtest/gtest.h>

#include "tests/kernels/arbitrary.h"

namespace normd {
namespace {

const Candidate usual{.template_name = "block_registers",
                      .values = {{"threads", 256}, {"vector_bytes", 16}, {"rows_per_block", 1}}};

TEST(candidate, the_text_is_the_documented_one) {
  EXPECT_EQ(to_text(usual), "block_registers threads=256 vector_bytes=16 rows_per_block=1");
  EXPECT_EQ(to_text(Candidate{.template_name = "thread_welford", .values = {}}), "thread_welford");
}

TEST(candidate, every_candidate_comes_back_from_its_text) {
  NORMD_EXPECT_PROPERTY("parse_candidate(to_text(c)) == c", [] {
    const Candidate candidate = any_candidate();
    const auto parsed = parse_candidate(to_text(candidate));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == candidate);
  });
}

TEST(candidate, values_are_found_by_the_name_of_their_axis) {
  EXPECT_EQ(usual.value("threads"), 256);
  EXPECT_EQ(usual.value("rows_per_block"), 1);
}

TEST(candidate, asking_for_an_axis_that_is_not_there_aborts) {
  EXPECT_DEATH(usual.value("lanes"), "no such axis");
}

TEST(candidate, any_other_text_is_refused) {
  for (const char* wrong :
       {"", " ", "threads=256", "block threads", "block threads=", "block =256", "block threads=-1",
        "block threads=x", "block threads=0256", "block threads=256 ", "block  threads=256",
        "block threads=1073741825", "block threads=4294967552", "block threads=2.5"}) {
    const auto parsed = parse_candidate(wrong);
    ASSERT_FALSE(parsed) << "'" << wrong << "'";
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(parse_candidate("block threads=x").error().field, "threads");
}

}  // namespace
}  // namespace normd
