#include "service/cli/tensor_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace normd {
namespace {

template <typename T>
std::string bytes_of_values(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class TensorFileTest : public testing::Test {
 protected:
  TensorFileTest() { std::filesystem::create_directory(directory_); }
  ~TensorFileTest() override { std::filesystem::remove_all(directory_); }
  std::string write(NpyType type, std::vector<std::int64_t> shape, std::string bytes) {
    const std::string path = (directory_ / "t.npy").string();
    EXPECT_TRUE(write_npy(path, {.type = type, .shape = std::move(shape), .bytes = bytes}));
    return path;
  }

 private:
  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("normd-tensor-" + std::to_string(getpid()));
};

TEST_F(TensorFileTest, uint16_is_bf16_only_if_it_was_said) {
  const std::string path = write(NpyType::uint16, {2}, bytes_of_values<std::uint16_t>({1, 2}));
  const Result<TensorFile> refused = read_tensor(path, {.flag = "--x"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--dtype bf16"), std::string::npos);
  const Result<TensorFile> read = read_tensor(path, {.flag = "--x", .uint16_is_bf16 = true});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dtype, DType::bf16);
  EXPECT_TRUE(read->conversion.empty());
}

TEST_F(TensorFileTest, fp32_becomes_bf16_rounded_to_nearest_even_and_says_so) {
  // Halfway between two bf16 values: to the even one, down for the first and up for the second.
  const std::string path =
      write(NpyType::fp32, {3}, bytes_of_values<float>({1.00390625f, 1.01171875f, -0.0f}));
  const Result<TensorFile> read = read_tensor(path, {.flag = "--x", .convert_to = DType::bf16});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, bytes_of_values<std::uint16_t>({0x3f80, 0x3f82, 0x8000}));
  EXPECT_NE(read->conversion.find("nearest even"), std::string::npos);
}

TEST_F(TensorFileTest, float64_is_refused_unless_it_is_converted) {
  const std::string path = write(NpyType::fp64, {1}, bytes_of_values<double>({0.5}));
  EXPECT_FALSE(read_tensor(path, {.flag = "--x"}));
  const Result<TensorFile> read = read_tensor(path, {.flag = "--x", .convert_to = DType::fp32});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->bytes, bytes_of_values<float>({0.5f}));
}

TEST_F(TensorFileTest, the_difference_is_the_largest_and_counts_what_cannot_be_compared) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  const std::string path = write(NpyType::fp32, {5}, bytes_of_values<float>({1, 2, inf, nan, nan}));
  const TensorFile tensor{
      .dtype = DType::fp32, .shape = {5}, .bytes = bytes_of_values<float>({1, 2.5f, inf, nan, 1})};
  const Result<Difference> difference = difference_to(path, tensor);
  ASSERT_TRUE(difference);
  EXPECT_DOUBLE_EQ(difference->largest, 0.5);
  EXPECT_EQ(difference->not_comparable, 1);
  EXPECT_DOUBLE_EQ(difference->relative_l2, 0.5 / std::sqrt(5.0));
}

TEST_F(TensorFileTest, an_expectation_of_another_shape_is_refused_with_both_shapes) {
  const std::string path = write(NpyType::fp32, {2}, bytes_of_values<float>({1, 2}));
  const Result<Difference> difference = difference_to(
      path, {.dtype = DType::fp32, .shape = {1, 2}, .bytes = bytes_of_values<float>({1, 2})});
  ASSERT_FALSE(difference);
  EXPECT_NE(difference.error().message.find("(1, 2)"), std::string::npos);
  EXPECT_NE(difference.error().message.find("(2,)"), std::string::npos);
}

}  // namespace
}  // namespace normd
