#include "service/daemon/run_message.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/limits.h"
#include "service/daemon/wire_bytes.h"

namespace normd {
namespace {

// The bytes in slices of `slice_bytes` each, as a socket may deliver them.
grpc::ByteBuffer in_slices(const std::string& bytes, std::size_t slice_bytes) {
  std::vector<grpc::Slice> slices;
  for (std::size_t i = 0; i < bytes.size(); i += slice_bytes) {
    slices.emplace_back(bytes.substr(i, slice_bytes));
  }
  return {slices.data(), slices.size()};
}

std::string text_of(const Pieces& pieces) {
  std::string text;
  for (const auto& piece : pieces) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

v1::RunRequest good_request() {
  v1::RunRequest request;
  request.mutable_problem()->set_rows(2);
  request.mutable_problem()->set_columns(50);
  request.mutable_problem()->set_x_dtype(v1::DTYPE_FP32);
  request.mutable_problem()->set_gamma_dtype(v1::DTYPE_FP16);
  request.set_epsilon(0.5f);
  request.set_device("host");
  request.set_x(std::string(400, 'x'));
  request.set_gamma(std::string(100, 'g'));
  return request;
}

TEST(RunMessage, header_and_tensors_are_found_however_the_bytes_are_cut) {
  const v1::RunRequest request = good_request();
  const std::string bytes = request.SerializeAsString();
  for (const std::size_t slice_bytes : {1ul, 3ul, 64ul, 10'000ul}) {
    const auto message = read_run_message(in_slices(bytes, slice_bytes));
    ASSERT_TRUE(message);
    EXPECT_EQ(message->header.device(), "host");
    EXPECT_EQ(message->header.epsilon(), 0.5f);
    EXPECT_TRUE(message->header.x().empty()) << "the tensors are not copied";
    EXPECT_EQ(text_of(message->x), request.x());
    EXPECT_EQ(text_of(message->gamma), request.gamma());
    EXPECT_EQ(text_of(message->beta), "");
    EXPECT_TRUE(check_tensors(*message, *read_problem(message->header.problem())));
  }
}

TEST(RunMessage, of_a_tensor_sent_twice_the_last_counts) {
  v1::RunRequest first;
  first.set_x("one");
  v1::RunRequest second;
  second.set_x("two!");
  const auto message =
      read_run_message(in_slices(first.SerializeAsString() + second.SerializeAsString(), 4));
  ASSERT_TRUE(message);
  EXPECT_EQ(text_of(message->x), "two!");
}

TEST(RunMessage, unknown_fields_are_accepted) {
  const std::string unknown = "\xf8\x3f\x01";  // field 1023, a varint
  const auto message = read_run_message(in_slices(good_request().SerializeAsString() + unknown, 7));
  EXPECT_TRUE(message);
}

TEST(RunMessage, bytes_that_are_no_message_are_refused) {
  const std::string good = good_request().SerializeAsString();
  const std::vector<std::string> cases = {
      "\xff\xff\xff\xff",
      "\x07",
      good.substr(0, good.size() - 1),
      good + "\xb2\x06\xff\x01",
      std::string("\xa2\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12),  // a length of 2^63
      std::string(100'000, '\x0b')};                                        // groups in groups
  for (const std::string& bytes : cases) {
    const auto message = read_run_message(in_slices(bytes, 1000));
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, ErrorCode::invalid_argument);
  }
}

TEST(RunMessage, random_bytes_never_do_more_than_fail) {
  std::mt19937 random(20261129);
  const std::string good = good_request().SerializeAsString();
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    for (unsigned flips = random() % 8; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto message = read_run_message(in_slices(bytes, 1 + random() % 100));
    if (!message) continue;
    const auto wire = read_problem(message->header.problem());
    if (wire) static_cast<void>(check_tensors(*message, *wire));
  }
}

struct BadLength {
  std::function<void(v1::RunRequest&)> spoil;
  const char* field;
};

TEST(RunMessage, tensors_must_have_exactly_the_bytes_that_the_problem_implies) {
  const std::vector<BadLength> cases = {
      {[](auto& r) { r.mutable_x()->pop_back(); }, "x"},
      {[](auto& r) { r.mutable_x()->push_back('x'); }, "x"},
      {[](auto& r) { r.clear_x(); }, "x"},
      {[](auto& r) { r.mutable_gamma()->pop_back(); }, "gamma"},
      {[](auto& r) { r.clear_gamma(); }, "gamma"},
      {[](auto& r) { r.set_beta("b"); }, "beta"},
      {[](auto& r) { r.mutable_problem()->set_beta_dtype(v1::DTYPE_FP32); }, "beta"},
      {[](auto& r) { r.mutable_problem()->set_x_row_stride(51); }, "x"},
      {[](auto& r) { r.mutable_problem()->set_rows(0); }, "x"},
  };
  for (const BadLength& bad : cases) {
    v1::RunRequest request = good_request();
    bad.spoil(request);
    const auto message = read_run_message(in_slices(request.SerializeAsString(), 100));
    const auto checked = check_tensors(*message, *read_problem(message->header.problem()));
    ASSERT_FALSE(checked) << bad.field;
    EXPECT_EQ(checked.error().field, bad.field);
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
  }
}

TEST(RunMessage, a_strided_x_ends_with_its_last_row) {
  v1::RunRequest request = good_request();
  request.mutable_problem()->set_x_row_stride(70);
  request.set_x(std::string((70 + 50) * 4, 'x'));
  const auto message = read_run_message(in_slices(request.SerializeAsString(), 100));
  EXPECT_TRUE(check_tensors(*message, *read_problem(message->header.problem())));
}

TEST(RunMessage, what_no_message_can_carry_is_refused_before_anything_is_made) {
  v1::RunRequest request = good_request();
  request.mutable_problem()->set_columns(1 << 20);
  request.mutable_problem()->set_rows(17);  // 68 MiB
  const auto message = read_run_message(in_slices(request.SerializeAsString(), 100));
  const auto checked = check_tensors(*message, *read_problem(message->header.problem()));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(checked.error().field, "message_bytes_max");
}

TEST(RunMessage, the_answer_is_one_message_with_its_tensors_behind_the_header) {
  Problem problem{.rows = 3, .columns = 40, .stats = Stats::mean_rstd};
  RunAnswerBytes answer(problem);
  ASSERT_EQ(answer.y().size(), 480u);
  ASSERT_EQ(answer.mean().size(), 12u);
  std::fill(answer.y().begin(), answer.y().end(), std::byte{'y'});
  std::fill(answer.mean().begin(), answer.mean().end(), std::byte{'m'});
  std::fill(answer.rstd().begin(), answer.rstd().end(), std::byte{'r'});
  v1::RunResponse header;
  header.set_candidate("any_columns");
  const auto response = parse<v1::RunResponse>(answer.finish(header));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->candidate(), "any_columns");
  EXPECT_EQ(response->y(), std::string(480, 'y'));
  EXPECT_EQ(response->mean(), std::string(12, 'm'));
  EXPECT_EQ(response->rstd(), std::string(12, 'r'));
}

TEST(WireBytes, malformed_bytes_are_invalid_argument) {
  const auto request = parse<v1::ForgetRequest>(in_slices("\xff\xff", 10));
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(parse<v1::GetStatusRequest>(grpc::ByteBuffer(nullptr, 0)));
}

}  // namespace
}  // namespace normd
