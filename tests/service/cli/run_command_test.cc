#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/reference.h"
#include "service/cli/npy.h"
#include "tests/service/cli/sample_store.h"
#include "tests/service/cli/tool.h"
#include "tests/service/client/fake_daemon.h"

namespace normd {
namespace {

using testing::HasSubstr;

std::string bytes_of_values(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// Computes the answer by the reference itself, for fp32 without statistics.
grpc::Status compute(const v1::RunRequest& request, v1::RunResponse* response) {
  const Problem problem{.rows = request.problem().rows(), .columns = request.problem().columns()};
  const HostTensors tensors{
      .x = request.x().data(), .x_row_stride = problem.columns, .epsilon = request.epsilon()};
  std::vector<float> y;
  ReferenceRow row;
  for (std::int64_t r = 0; r < problem.rows; ++r) {
    reference_row(problem, tensors, r, row);
    for (const double value : row.y) y.push_back(static_cast<float>(value));
  }
  response->set_y(bytes_of_values(y));
  response->set_origin(v1::ORIGIN_FALLBACK);
  response->set_candidate("any_columns");
  response->set_kernel_ns(12'345);
  return grpc::Status::OK;
}

class RunCommand : public testing::Test {
 protected:
  RunCommand() {
    daemon_.on_run = compute;
    daemon_.start();
    write("x.npy", {.shape = {1, 2, 4}, .bytes = bytes_of_values({0, 1, 2, 3, 4, 5, 6, 9})});
  }
  void write(const std::string& name, const NpyArray& array) {
    ASSERT_TRUE(write_npy(path(name), array));
  }
  std::string path(const std::string& name) const { return directory_.file(name); }
  ToolRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", "--x", path("x.npy")});
    arguments.insert(arguments.end(), {"--socket", daemon_.socket()});
    return Tool{}(arguments);
  }

  SampleFolder directory_;
  FakeDaemon daemon_;
};

TEST_F(RunCommand, an_output_that_would_overwrite_another_file_of_the_call_is_refused) {
  ASSERT_EQ(symlink(path("x.npy").c_str(), path("link.npy").c_str()), 0);
  const std::vector<std::vector<std::string>> cases = {
      {"--out", path("y.npy"), "--mean", path("y.npy")},
      {"--mean", path("m.npy"), "--rstd", path("./m.npy")},
      {"--out", path("x.npy")},
      {"--out", path("link.npy")},
      {"--out", path("y.npy"), "--expect", path("y.npy")}};
  for (const auto& arguments : cases) {
    const ToolRun ran = run(arguments);
    EXPECT_EQ(ran.status, ExitStatus::usage) << arguments.front();
    EXPECT_THAT(ran.err, HasSubstr("would overwrite it"));
  }
  EXPECT_EQ(access(path("y.npy").c_str(), F_OK), -1) << "nothing was asked of the daemon";
  EXPECT_TRUE(read_npy(path("x.npy")));
  EXPECT_EQ(run({"--out", "/dev/null"}).status, run({}).status) << "nothing is lost there";
}

TEST_F(RunCommand, an_answer_is_written_in_the_shape_of_x_and_explained) {
  const ToolRun ran = run({"--out", path("y.npy"), "--check", "--epsilon", "1e-3"});
  EXPECT_EQ(ran.status, ExitStatus::ok) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("origin     fallback\n"));
  EXPECT_THAT(ran.out, HasSubstr("candidate  any_columns\n"));
  EXPECT_THAT(ran.out, HasSubstr("kernel     12.3 us\n"));
  EXPECT_THAT(ran.out, HasSubstr("check      ok: largest error"));
  const Result<NpyArray> y = read_npy(path("y.npy"));
  ASSERT_TRUE(y);
  EXPECT_EQ(y->shape, (std::vector<std::int64_t>{1, 2, 4}));
}

TEST_F(RunCommand, a_wrong_answer_is_found_by_check_with_a_status_of_its_own) {
  daemon_.on_run = [](const v1::RunRequest& request, v1::RunResponse* response) {
    const grpc::Status status = compute(request, response);
    const float wrong = 0.5f;
    std::memcpy(response->mutable_y()->data() + 4, &wrong, sizeof wrong);
    return status;
  };
  const ToolRun ran = run({"--check"});
  EXPECT_EQ(ran.status, ExitStatus::mismatch);
  EXPECT_THAT(ran.out, HasSubstr("check      WRONG"));
  EXPECT_EQ(run({}).status, ExitStatus::ok);
}

TEST_F(RunCommand, the_difference_to_another_answer_is_printed_and_judges_nothing) {
  write("e.npy", {.shape = {1, 2, 4}, .bytes = bytes_of_values(std::vector<float>(8, 0))});
  const ToolRun ran = run({"--expect", path("e.npy"), "--json"});
  EXPECT_EQ(ran.status, ExitStatus::ok) << ran.err;
  const nlohmann::json object = nlohmann::json::parse(ran.out);
  EXPECT_GT(object["expect"]["difference_max"], 1.0);
  EXPECT_EQ(object["origin"], "fallback");
  EXPECT_EQ(object["rows"], 2);
  EXPECT_TRUE(object["check"].is_null());
}

TEST_F(RunCommand, conversion_to_bf16_is_said_and_written_back_as_uint16) {
  v1::RunRequest seen;
  daemon_.on_run = [&](const v1::RunRequest& request, v1::RunResponse* response) {
    seen = request;
    response->set_y(request.x());
    return grpc::Status::OK;
  };
  const ToolRun ran = run({"--x-dtype", "bf16", "--out", path("y.npy")});
  EXPECT_EQ(ran.status, ExitStatus::ok) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("converted from float32 to bf16, rounded to nearest even"));
  EXPECT_EQ(seen.problem().x_dtype(), v1::DTYPE_BF16);
  EXPECT_EQ(seen.x().size(), 16u);
  EXPECT_EQ(read_npy(path("y.npy"))->type, NpyType::uint16);
}

TEST_F(RunCommand, no_rows_give_an_empty_answer) {
  daemon_.on_run = [](const v1::RunRequest&, v1::RunResponse* response) {
    response->set_origin(v1::ORIGIN_NONE);
    return grpc::Status::OK;
  };
  write("x.npy", {.shape = {0, 1024}});
  const ToolRun ran = run({"--check", "--out", path("y.npy")});
  EXPECT_EQ(ran.status, ExitStatus::ok) << ran.err;
  EXPECT_EQ(read_npy(path("y.npy"))->shape, (std::vector<std::int64_t>{0, 1024}));
}

TEST_F(RunCommand, bad_input_is_named_and_nothing_is_sent) {
  write("short.npy", {.shape = {3}, .bytes = bytes_of_values({1, 2, 3})});
  write("bits.npy", {.type = NpyType::uint16, .shape = {4}, .bytes = std::string(8, '\0')});
  std::ofstream(path("text.npy")) << "no array";
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--gamma", path("short.npy")}, "short.npy: expected 4 elements, one for each column"},
      {{"--beta", path("text.npy")}, "text.npy: byte 0: expected \\\\x93NUMPY"},
      {{"--gamma", path("bits.npy")}, "--dtype bf16"},
      {{"--dtype", "bf16"}, "--x-dtype bf16 would convert it"},
      {{"--epsilon", "nan"}, "--epsilon"},
      {{"--epsilon", "-1e-5"}, "--epsilon"},
      {{"--policy", "maybe"}, "expected fallback, wait or fail"},
      {{"--deadline", "5"}, "--deadline"},
      {{"--gamma-dtype", "bf16"}, "--gamma is not"},
      {{"--y-dtype", "fp8"}, "--y-dtype"},
  };
  for (const auto& [arguments, words] : wrong) {
    const ToolRun ran = run(arguments);
    EXPECT_EQ(ran.status, ExitStatus::usage) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(words));
  }
  EXPECT_EQ(run({"--gamma", path("none.npy")}).status, ExitStatus::not_found);
  write("x.npy", {.shape = {5, 0}});
  EXPECT_THAT(run({}).err, HasSubstr("columns"));
  write("x.npy", {.shape = {}, .bytes = bytes_of_values({1})});
  EXPECT_THAT(run({}).err, HasSubstr("at least one axis"));
  EXPECT_EQ(daemon_.runs, 0);
}

TEST_F(RunCommand, a_refusal_of_the_daemon_is_printed_with_its_words) {
  daemon_.on_run = [](const v1::RunRequest&, v1::RunResponse*) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "the shape is not tuned");
  };
  const ToolRun ran = run({"--policy", "fail"});
  EXPECT_EQ(ran.status, ExitStatus::failed);
  EXPECT_THAT(ran.err, HasSubstr("the shape is not tuned"));
}

}  // namespace
}  // namespace normd
