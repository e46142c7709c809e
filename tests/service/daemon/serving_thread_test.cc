#include "service/daemon/serving_thread.h"

#include "host_serving.h"
#include "kernels/tolerance.h"

namespace normd {
namespace {

std::span<const std::byte> bytes(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

class Serving : public HostServing {
 protected:
  // Serves rows of `columns` values with the fallback and waits for the answer.
  Result<ServeTimes> serve(const Problem& problem, std::int64_t x_row_stride,
                           const ServeTensors& tensors) {
    return serve_with(serving_->fallback(), problem, x_row_stride, tensors);
  }

  Result<ServeTimes> serve_with(const ServedKernelPointer& kernel, const Problem& problem,
                                std::int64_t x_row_stride, const ServeTensors& tensors) {
    std::promise<Result<ServeTimes>> done;
    ServeJob job{.kernel = kernel,
                 .problem = problem,
                 .x_row_stride = x_row_stride,
                 .epsilon = 1e-5f,
                 .tensors = tensors,
                 .done = [&](Result<ServeTimes> times) { done.set_value(std::move(times)); }};
    if (auto queued = serving_->submit(std::move(job)); !queued) return fail(queued.error());
    return done.get_future().get();
  }
};

TEST_F(Serving, the_fallback_answers_with_statistics) {
  const Problem problem{.rows = 2, .columns = 8, .stats = Stats::mean_rstd};
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0};
  std::vector<float> y(16), mean(2), rstd(2);
  const auto times = serve(problem, 8,
                           {.x = {bytes(x)},
                            .y = std::as_writable_bytes(std::span(y)),
                            .mean = std::as_writable_bytes(std::span(mean)),
                            .rstd = std::as_writable_bytes(std::span(rstd))});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_GT(times->kernel_ns, 0);
  EXPECT_NEAR(y[0], -1.5275238f, 1e-6f);
  EXPECT_NEAR(y[3], -0.2182177f, 1e-6f);
  EXPECT_NEAR(y[8], 1.5275238f, 1e-6f);
  EXPECT_EQ(mean[1], 3.5f);
}

TEST_F(Serving, each_key_that_was_served_is_named_once_and_the_fallback_has_none) {
  const Problem problem{.rows = 2, .columns = 8};
  Binary binary;
  const Winner winner = make_winner(problem, binary);
  const auto kernel = serving_
                          ->load({.binary = binary,
                                  .launch = winner.launch,
                                  .candidate = to_text(winner.candidate),
                                  .key = to_text(winner.key)})
                          .get();
  ASSERT_TRUE(kernel) << kernel.error().message;
  const std::vector<float> x(16);
  std::vector<float> y(16);
  const ServeTensors tensors{.x = {bytes(x)}, .y = std::as_writable_bytes(std::span(y))};
  ASSERT_TRUE(serve(problem, 8, tensors));
  EXPECT_TRUE(serving_->take_used().empty());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(serve_with(*kernel, problem, 8, tensors));
    ASSERT_TRUE(serve_with(*kernel, problem, 8, tensors));
    EXPECT_EQ(serving_->take_used(), std::vector{to_text(winner.key)});
    EXPECT_TRUE(serving_->take_used().empty());
  }
}

TEST_F(Serving, gaps_between_rows_and_pieces_of_a_message_do_not_matter) {
  const Problem problem{.rows = 2, .columns = 8, .rows_layout = RowsLayout::strided};
  std::vector<float> x(24, 9e9f);
  for (int i = 0; i < 8; ++i) x[i] = x[16 + i] = static_cast<float>(i);
  std::vector<float> y(16);
  const auto all = bytes(x);
  const auto times = serve(problem, 16,
                           {.x = {all.first(5), all.subspan(5, 40), all.subspan(45)},
                            .y = std::as_writable_bytes(std::span(y))});
  ASSERT_TRUE(times) << times.error().message;
  for (const int row : {0, 8}) {
    EXPECT_NEAR(y[row], -1.5275238f, 1e-6f);
    EXPECT_NEAR(y[row + 7], 1.5275238f, 1e-6f);
  }
}

TEST_F(Serving, a_large_request_after_a_small_one_makes_room) {
  const std::vector<float> x(1 << 20, 3.0f);
  std::vector<float> y(1 << 20, 1.0f);
  ASSERT_TRUE(
      serve({.rows = 1, .columns = 4}, 4,
            {.x = {bytes(x).first(16)}, .y = std::as_writable_bytes(std::span(y)).first(16)}));
  const auto times = serve({.rows = 1 << 10, .columns = 1 << 10}, 1 << 10,
                           {.x = {bytes(x)}, .y = std::as_writable_bytes(std::span(y))});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(y, std::vector<float>(1 << 20, 0.0f));
}

TEST_F(Serving, beyond_its_bound_the_queue_refuses_by_name) {
  std::promise<void> go;
  std::promise<void> begun;
  const std::vector<float> x(4);
  std::vector<float> y(4);
  const auto small = start_serving(1);  // gone first: it works on the above until then
  const auto job = [&](std::function<void(Result<ServeTimes>)> done) {
    return ServeJob{.kernel = small->fallback(),
                    .problem = {.rows = 1, .columns = 4},
                    .x_row_stride = 4,
                    .epsilon = 1e-5f,
                    .tensors = {.x = {bytes(x)}, .y = std::as_writable_bytes(std::span(y))},
                    .done = std::move(done)};
  };
  ASSERT_TRUE(small->submit(job([&](const auto&) { begun.set_value(), go.get_future().wait(); })));
  begun.get_future().wait();
  EXPECT_TRUE(small->submit(job([](const auto&) {})));
  const auto refused = small->submit(job([](const auto&) {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "serving_queue_max");
  go.set_value();
}

TEST_F(Serving, a_kernel_that_was_compiled_for_its_problem_agrees_with_the_reference) {
  const Problem problem{.rows = 3, .columns = 100, .gamma = DType::fp32};
  Binary binary;
  const Winner winner = make_winner(problem, binary);
  auto kernel = serving_
                    ->load({.binary = binary,
                            .launch = winner.launch,
                            .candidate = to_text(winner.candidate),
                            .key = to_text(winner.key)})
                    .get();
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::vector<float> x(300), gamma(100, 2.0f), y(300);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 97);
  std::promise<Result<ServeTimes>> done;
  ASSERT_TRUE(serving_->submit(
      {.kernel = std::move(*kernel),
       .problem = problem,
       .x_row_stride = 100,
       .epsilon = 1e-5f,
       .tensors = {.x = {bytes(x)},
                   .gamma = {bytes(gamma)},
                   .y = std::as_writable_bytes(std::span(y))},
       .done = [&](Result<ServeTimes> times) { done.set_value(std::move(times)); }}));
  ASSERT_TRUE(done.get_future().get());
  const Comparison comparison =
      compare(problem, {.x = x.data(), .gamma = gamma.data(), .x_row_stride = 100},
              {.y = y.data(), .y_row_stride = 100}, Tolerance{}, 0, 3);
  EXPECT_EQ(comparison.failure, "");
}

TEST_F(Serving, a_device_that_is_not_there_is_an_error_in_words) {
  const auto serving = ServingThread::start(
      {.device = "GPU-none", .turn_directory = directory_ + "/turn", .queue_max = 1, .log = &log_});
  ASSERT_FALSE(serving);
  EXPECT_FALSE(serving.error().message.empty());
}

}  // namespace
}  // namespace normd
