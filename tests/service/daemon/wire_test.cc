#include "service/daemon/wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/limits.h"

namespace normd {
namespace {

v1::Problem good_problem() {
  v1::Problem problem;
  problem.set_rows(4);
  problem.set_columns(100);
  problem.set_x_dtype(v1::DTYPE_FP16);
  return problem;
}

DeviceSpec spec() {
  return host_device_spec();
}

TEST(Wire, a_problem_with_every_field_is_read) {
  v1::Problem message = good_problem();
  message.set_op(v1::OP_LAYER_NORM);
  message.set_y_dtype(v1::DTYPE_FP32);
  message.set_gamma_dtype(v1::DTYPE_BF16);
  message.set_beta_dtype(v1::DTYPE_FP32);
  message.set_want_mean(true);
  message.set_want_rstd(true);
  message.set_x_row_stride(128);
  const auto wire = read_problem(message);
  ASSERT_TRUE(wire) << wire.error().message;
  EXPECT_EQ(wire->x_row_stride, 128);
  EXPECT_EQ(wire->problem.rows, 4);
  EXPECT_EQ(wire->problem.columns, 100);
  EXPECT_EQ(wire->problem.x, DType::fp16);
  EXPECT_EQ(wire->problem.y, DType::fp32);
  EXPECT_EQ(wire->problem.gamma, DType::bf16);
  EXPECT_EQ(wire->problem.beta, DType::fp32);
  EXPECT_EQ(wire->problem.stats, Stats::mean_rstd);
  EXPECT_EQ(wire->problem.rows_layout, RowsLayout::strided);
}

TEST(Wire, what_is_not_given_takes_its_documented_meaning) {
  const auto wire = read_problem(good_problem());
  ASSERT_TRUE(wire);
  EXPECT_EQ(wire->problem.op, Op::layer_norm);
  EXPECT_EQ(wire->problem.y, DType::fp16);
  EXPECT_FALSE(wire->problem.gamma);
  EXPECT_FALSE(wire->problem.beta);
  EXPECT_EQ(wire->x_row_stride, 100);
  EXPECT_EQ(wire->problem.rows_layout, RowsLayout::contiguous);
  EXPECT_EQ(*read_epsilon({}), 1e-5f);
  EXPECT_EQ(*read_policy(v1::POLICY_UNSPECIFIED, Policy::wait), Policy::wait);
  EXPECT_EQ(*read_bucket_mode(v1::BUCKET_MODE_UNSPECIFIED), BucketMode::bucketed);
}

struct BadProblem {
  std::function<void(v1::Problem&)> spoil;
  const char* field;
  ErrorCode code = ErrorCode::invalid_argument;
};

TEST(Wire, every_field_out_of_range_is_refused_by_name) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto dtype = [](int value) { return static_cast<v1::DType>(value); };
  std::vector<BadProblem> cases = {
      {[](auto& p) { p.set_rows(-1); }, "problem.rows"},
      {[](auto& p) { p.set_rows(limits::rows_max + 1); }, "problem.rows"},
      {[](auto& p) { p.set_rows(huge); }, "problem.rows"},
      {[](auto& p) { p.set_columns(0); }, "problem.columns"},
      {[](auto& p) { p.set_columns(-1); }, "problem.columns"},
      {[](auto& p) { p.set_columns(limits::columns_max + 1); }, "problem.columns"},
      {[](auto& p) { p.set_columns(huge); }, "problem.columns"},
      {[](auto& p) { p.set_rows(limits::rows_max), p.set_columns(limits::columns_max); },
       "problem.rows"},
      {[](auto& p) { p.set_x_dtype(v1::DTYPE_UNSPECIFIED); }, "problem.x_dtype"},
      {[](auto& p) { p.set_x_row_stride(99); }, "problem.x_row_stride"},
      {[](auto& p) { p.set_x_row_stride(-100); }, "problem.x_row_stride"},
      {[](auto& p) { p.set_x_row_stride(huge); }, "problem.x_row_stride"},
      {[](auto& p) { p.set_x_row_stride(limits::elements_max); }, "problem.x_row_stride"},
      {[](auto& p) { p.set_op(static_cast<v1::Op>(2)); }, "problem.op"},
      {[](auto& p) { p.set_op(static_cast<v1::Op>(-1)); }, "problem.op"},
  };
  for (const int value : {-1, 8, 99, std::numeric_limits<int>::max()}) {
    cases.push_back({[=](auto& p) { p.set_x_dtype(dtype(value)); }, "problem.x_dtype"});
    cases.push_back({[=](auto& p) { p.set_y_dtype(dtype(value)); }, "problem.y_dtype"});
    cases.push_back({[=](auto& p) { p.set_gamma_dtype(dtype(value)); }, "problem.gamma_dtype"});
    cases.push_back({[=](auto& p) { p.set_beta_dtype(dtype(value)); }, "problem.beta_dtype"});
  }
  for (const int value : {4, 5, 6, 7}) {
    const auto code = ErrorCode::unimplemented;
    cases.push_back({[=](auto& p) { p.set_x_dtype(dtype(value)); }, "problem.x_dtype", code});
    cases.push_back({[=](auto& p) { p.set_y_dtype(dtype(value)); }, "problem.y_dtype", code});
    cases.push_back(
        {[=](auto& p) { p.set_gamma_dtype(dtype(value)); }, "problem.gamma_dtype", code});
    cases.push_back({[=](auto& p) { p.set_beta_dtype(dtype(value)); }, "problem.beta_dtype", code});
  }
  for (const BadProblem& bad : cases) {
    v1::Problem message = good_problem();
    bad.spoil(message);
    const auto wire = read_problem(message);
    ASSERT_FALSE(wire) << message.ShortDebugString();
    EXPECT_EQ(wire.error().field, bad.field) << message.ShortDebugString();
    EXPECT_EQ(wire.error().code, bad.code) << message.ShortDebugString();
  }
}

TEST(Wire, zero_rows_are_a_problem_like_any_other) {
  v1::Problem message = good_problem();
  message.set_rows(0);
  EXPECT_TRUE(read_problem(message));
}

TEST(Wire, epsilon_must_be_finite_and_not_negative) {
  const auto read = [](float epsilon) {
    v1::RunRequest request;
    request.set_epsilon(epsilon);
    return read_epsilon(request);
  };
  EXPECT_EQ(*read(0.0f), 0.0f);
  EXPECT_EQ(*read(1e-42f), 1e-42f);  // a denormal is a number
  for (const float bad : {-1e-6f, NAN, INFINITY, -INFINITY}) {
    ASSERT_FALSE(read(bad));
    EXPECT_EQ(read(bad).error().field, "epsilon");
  }
}

TEST(Wire, unknown_policies_and_modes_are_refused_by_name) {
  for (const int value : {-1, 4, 99}) {
    EXPECT_EQ(read_policy(static_cast<v1::Policy>(value), Policy::wait).error().field, "policy");
    EXPECT_EQ(read_bucket_mode(static_cast<v1::BucketMode>(value)).error().field, "bucket_mode");
  }
}

TEST(Wire, the_alignment_class_is_the_devices_widest_unless_strides_forbid) {
  v1::Problem message = good_problem();
  EXPECT_EQ(with_alignment(*read_problem(message), 0, spec())->align_bytes, 16);
  EXPECT_EQ(with_alignment(*read_problem(message), 4, spec())->align_bytes, 4);
  EXPECT_EQ(with_alignment(*read_problem(message), 64, spec())->align_bytes, 16);
  message.set_x_row_stride(102);  // 204 bytes
  EXPECT_EQ(with_alignment(*read_problem(message), 0, spec())->align_bytes, 4);
  message.set_x_row_stride(101);
  EXPECT_EQ(with_alignment(*read_problem(message), 0, spec())->align_bytes, 2);
  message.set_columns(96);
  message.set_x_row_stride(128);
  EXPECT_EQ(with_alignment(*read_problem(message), 0, spec())->align_bytes, 16);
}

TEST(Wire, an_alignment_that_is_none_is_refused_by_name) {
  const auto wire = read_problem(good_problem());
  for (const std::int64_t bad : {-1, 1, 3, 65, 128}) {
    const auto problem = with_alignment(*wire, bad, spec());
    ASSERT_FALSE(problem) << bad;
    EXPECT_EQ(problem.error().field, "align_bytes");
  }
}

TEST(Wire, a_key_is_read_back_from_its_text_and_nothing_else_is) {
  const Key key =
      make_key({.rows = 4, .columns = 100}, spec(), make_fingerprint(spec()), BucketMode::bucketed);
  EXPECT_EQ(*read_key(to_text(key)), key);
  for (const std::string& bad :
       {std::string(), std::string("x"), std::string(2000, 'k'), to_text(key) + "\n",
        std::string("layer_norm\0", 11), std::string("\x1b[2J"), to_text(key) + " x=1"}) {
    ASSERT_FALSE(read_key(bad)) << bad;
    EXPECT_EQ(read_key(bad).error().field, "key");
  }
}

TEST(Wire, a_trials_detail_is_valid_utf8_and_bounded) {
  Trial trial{.candidate = *parse_candidate("sub_warp threads=128"),
              .verdict = {.kind = VerdictKind::refused, .reason = Reason::compile_error}};
  trial.verdict.detail = "\xff" + std::string(100'000, 'x');
  const v1::Trial message = write_trial(trial);
  EXPECT_LE(message.detail().size(), std::size_t{4096});
  EXPECT_EQ(message.detail()[0], '?');
  EXPECT_EQ(message.verdict(), "refused");
  EXPECT_EQ(message.reason(), "compile_error");
}

TEST(Wire, clocks_and_rounds_reach_the_client) {
  const v1::Measurement measurement = write_measurement(
      {.rows = 4, .cache = CacheState::warm, .samples = 9, .copy_ns = 2, .sm_clock_mhz = 1980});
  EXPECT_EQ(measurement.sm_clock_mhz(), 1980);
  EXPECT_EQ(measurement.samples(), 9);
  const v1::TuneProgress progress = write_progress(
      {.stage = TuneStage::racing, .gated = 5, .rounds_kept = 24, .rounds_discarded = 3});
  EXPECT_EQ(progress.rounds_kept(), 24);
  EXPECT_EQ(progress.rounds_discarded(), 3);
  EXPECT_EQ(progress.gated(), 5);
}

TEST(Wire, origins_have_the_numbers_of_the_protocol) {
  EXPECT_EQ(write_origin(Origin::memory), v1::ORIGIN_MEMORY);
  EXPECT_EQ(write_origin(Origin::store), v1::ORIGIN_STORE);
  EXPECT_EQ(write_origin(Origin::joined), v1::ORIGIN_JOINED);
  EXPECT_EQ(write_origin(Origin::tuned), v1::ORIGIN_TUNED);
  EXPECT_EQ(write_origin(Origin::standard), v1::ORIGIN_DEFAULT);
  EXPECT_EQ(write_origin(Origin::fallback), v1::ORIGIN_FALLBACK);
  EXPECT_EQ(write_origin(Origin::none), v1::ORIGIN_NONE);
}

}  // namespace
}  // namespace normd
