// The two modes in which a client says more of its rows than which bucket they fall into.
#include <cstring>

#include "daemon_process.h"

namespace normd {
namespace {

constexpr std::int64_t columns = 301;

// The same first rows, whatever their number.
v1::RunRequest request_for(std::int64_t rows, v1::BucketMode mode) {
  v1::RunRequest request;
  request.mutable_problem()->set_rows(rows);
  request.mutable_problem()->set_columns(columns);
  request.mutable_problem()->set_x_dtype(v1::DTYPE_FP32);
  request.mutable_problem()->set_want_mean(true);
  request.mutable_problem()->set_want_rstd(true);
  request.set_policy(v1::POLICY_WAIT);
  request.set_bucket_mode(mode);
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    x.push_back(static_cast<float>(i * 7919 % 10007) / 100.0f);
  }
  request.set_x(x.data(), x.size() * sizeof(float));
  return request;
}

class BucketModes : public testing::Test {
 protected:
  v1::RunResponse answer(std::int64_t rows, v1::BucketMode mode) {
    const RunResult result = run(*stub_, request_for(rows, mode));
    EXPECT_TRUE(result.status.ok()) << rows << " rows: " << result.status.error_message();
    return result.response;
  }
  std::int64_t tunings() { return status_of(*stub_).counters().tunings(); }

  const TestDirectory directory_;
  const DaemonProcess daemon_{directory_.path(), {.flags = {"--tuning-budget-ms=4000"}}};
  const std::unique_ptr<v1::Normd::Stub> stub_ = daemon_.stub();
};

// How many rows there are, on the whole grid or on a part of a block, does not show in any of them.
TEST_F(BucketModes, batch_invariant_gives_a_row_the_same_bits_in_any_batch) {
  constexpr std::int64_t most = 700;
  const v1::RunResponse all = answer(most, v1::BUCKET_MODE_BATCH_INVARIANT);
  ASSERT_EQ(all.y().size(), most * columns * sizeof(float));
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 31, 32, 33, 128, 129, 500}) {
    const v1::RunResponse some = answer(rows, v1::BUCKET_MODE_BATCH_INVARIANT);
    EXPECT_EQ(some.key(), all.key());
    const auto same = [&](const std::string& few, const std::string& many, std::size_t bytes) {
      return few.size() == bytes && std::memcmp(few.data(), many.data(), bytes) == 0;
    };
    const auto count = static_cast<std::size_t>(rows);
    EXPECT_TRUE(same(some.y(), all.y(), count * columns * sizeof(float))) << rows << " rows";
    EXPECT_TRUE(same(some.mean(), all.mean(), count * sizeof(float))) << rows << " rows";
    EXPECT_TRUE(same(some.rstd(), all.rstd(), count * sizeof(float))) << rows << " rows";
  }
  EXPECT_EQ(tunings(), 1) << "one winner for all batches";
}

TEST_F(BucketModes, single_row_count_has_a_winner_for_each_number_of_rows) {
  const v1::RunResponse four = answer(4, v1::BUCKET_MODE_SINGLE_ROW_COUNT);
  const v1::RunResponse five = answer(5, v1::BUCKET_MODE_SINGLE_ROW_COUNT);
  EXPECT_NE(four.key().find("rows=4..4"), std::string::npos) << four.key();
  EXPECT_NE(five.key().find("rows=5..5"), std::string::npos) << five.key();
  EXPECT_EQ(tunings(), 2);
  const v1::RunResponse again = answer(4, v1::BUCKET_MODE_SINGLE_ROW_COUNT);
  EXPECT_EQ(again.origin(), v1::ORIGIN_MEMORY);
  EXPECT_EQ(again.y(), four.y());
}

}  // namespace
}  // namespace normd
