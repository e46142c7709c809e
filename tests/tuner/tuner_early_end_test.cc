// When a tuning ends before its budget: where candidates are as fast as a copy.
#include <algorithm>

#include "tests/tuner/scripted_tuning.h"

namespace normd {
namespace {

class TunerEarlyEnd : public ScriptedTuning {
 protected:
  static TuneRequest of_rows(std::int64_t rows) {
    return {.problem = {.rows = rows, .columns = 1024},
            .mode = BucketMode::single_row_count,
            .budget_ms = 20000};
  }
  // Of the tuning's candidates, how many were timed and how many there are. One compiler, so that
  // they come in order: no tuning ends before its default has passed.
  std::pair<std::ptrdiff_t, std::size_t> tried(const TuneRequest& request) const {
    const auto tuning = tune(*make_tuner(*store_, 1), request);
    if (!tuning) {
      ADD_FAILURE() << tuning.error().message;
      return {};
    }
    const auto measured = std::count_if(
        tuning->trials.begin(), tuning->trials.end(),
        [](const Trial& trial) { return trial.verdict.kind == VerdictKind::measured; });
    return {measured, tuning->trials.size()};
  }

  const std::int64_t beyond_cache_ = 1 << 16;
};

TEST_F(TunerEarlyEnd, sixteen_as_fast_as_a_copy_will_do) {
  script_->add("sample", "", "copy");
  const auto [measured, all] = tried(of_rows(beyond_cache_));
  EXPECT_EQ(measured, 16);
  EXPECT_GT(all, 20u);
}

TEST_F(TunerEarlyEnd, all_are_tried_where_none_comes_near_the_copy) {
  const auto [measured, all] = tried(of_rows(beyond_cache_));
  EXPECT_EQ(measured, static_cast<std::ptrdiff_t>(all));
}

// The copy is no limit there.
TEST_F(TunerEarlyEnd, all_are_tried_where_a_cache_holds_the_tensors) {
  script_->add("sample", "", "copy");
  const auto [measured, all] = tried(of_rows(1024));
  EXPECT_EQ(measured, static_cast<std::ptrdiff_t>(all));
  EXPECT_GT(all, 20u);
}

TEST_F(TunerEarlyEnd, who_asks_for_everything_gets_what_does_not_pay_too) {
  script_->add("sample", "", "copy");
  const auto [some, all] = tried(of_rows(beyond_cache_));
  TuneRequest request = of_rows(beyond_cache_ + 1);
  request.everything = true;
  const auto [measured, everything] = tried(request);
  EXPECT_EQ(measured, static_cast<std::ptrdiff_t>(everything));
  EXPECT_GT(everything, all);
}

}  // namespace
}  // namespace normd
