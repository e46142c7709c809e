#include "service/cli/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace normd {
namespace {

std::string file_with(const std::string& dict, const std::string& data, int major = 1) {
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(major);
  text += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) {
    text += static_cast<char>((dict.size() >> (8 * i)) & 0xff);
  }
  return text + dict + data;
}

const std::string good_dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n";
const std::string data_24(24, '\0');

std::string refusal(const std::string& file) {
  const Result<NpyArray> array = parse_npy(file, "x.npy");
  return array ? "accepted" : array.error().message;
}

TEST(Npy, all_three_format_versions_are_read) {
  for (const int major : {1, 2, 3}) {
    const Result<NpyArray> array = parse_npy(file_with(good_dict, data_24, major), "x.npy");
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(array->type, NpyType::fp32);
    EXPECT_EQ(array->bytes.size(), 24u);
  }
}

TEST(Npy, what_is_written_is_read_back) {
  const std::vector<std::vector<std::int64_t>> shapes = {{}, {3}, {2, 3}, {0, 1024}, {2, 1, 3, 1}};
  for (const auto& shape : shapes) {
    std::int64_t elements = 1;
    for (const std::int64_t dimension : shape) elements *= dimension;
    for (const NpyType type : {NpyType::fp16, NpyType::fp32, NpyType::fp64, NpyType::uint16}) {
      NpyArray array{.type = type, .shape = shape};
      array.bytes.assign(static_cast<std::size_t>(elements) * size_bytes(type), '\x3c');
      const std::string text = npy_text(array);
      EXPECT_EQ((text.size() - array.bytes.size()) % 64, 0u);
      const Result<NpyArray> back = parse_npy(text, "x.npy");
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->type, type);
      EXPECT_EQ(back->bytes, array.bytes);
      EXPECT_EQ(back->elements(), elements);
    }
  }
}

TEST(Npy, keys_come_in_any_order_and_either_quote) {
  EXPECT_EQ(refusal(file_with(R"({"shape":(6,),"fortran_order":True,"descr":"<f4"})", data_24)),
            "accepted");
}

TEST(Npy, each_fault_is_named_with_file_and_offset) {
  const auto dict = [](const std::string& text) { return file_with(text, data_24); };
  const std::pair<std::string, const char*> wrong[] = {
      {"", "x.npy: byte 0: expected \\x93NUMPY"},
      {"PK\x03\x04", "x.npy: byte 0: expected \\x93NUMPY"},
      {std::string("\x93NUMPY", 6), "byte 6: expected the format version"},
      {file_with(good_dict, data_24, 4),
       "byte 6: expected format version 1.0, 2.0 or 3.0, not 4.0"},
      {file_with(good_dict, "", 1).substr(0, 9), "byte 9: expected the length of the header"},
      {file_with(good_dict, "", 1).substr(0, 40), "byte 40: expected the rest of a header of 65"},
      {file_with(good_dict, data_24.substr(1)), "byte 98: expected 24 bytes of elements"},
      {file_with(good_dict, data_24 + "x"), "but the file goes on"},
      {dict("[1]"), "byte 10: expected '{'"},
      {dict("{'descr': '<f4'}"), "one is missing"},
      {dict("{'descr': '>f4', 'fortran_order': False, 'shape': (6,)}"),
       "byte 20: expected little-endian elements, not the big-endian '>f4'"},
      {dict("{'descr': '|O', 'fortran_order': False, 'shape': (6,)}"),
       "expected numbers, not Python objects"},
      {dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}"),
       "structured arrays are not read"},
      {dict("{'descr': '<i4', 'fortran_order': False, 'shape': (6,)}"), "not '<i4'"},
      {dict("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}"), "expected C order"},
      {dict("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}"), "expected True or False"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3)}"), "a dimension"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}"), "',' or ')'"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (6)}"), "after the only dimension"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
       "a dimension of at most 63 bits"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}"),
       "a shape of at most"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x"), "nothing after '}'"},
      {dict("{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}"), "once, not 'descr'"},
      {dict("{'descr': '<f4', 'other': 1}"), "not 'other'"},
      {dict("{'descr': '\x1b[2J'}"), "\\x1b[2J"},
  };
  for (const auto& [file, words] : wrong) {
    EXPECT_NE(refusal(file).find(words), std::string::npos) << refusal(file);
  }
}

TEST(Npy, a_huge_header_or_shape_is_refused_before_anything_is_allocated) {
  std::string file = file_with(good_dict, data_24, 2);
  file[8] = file[9] = file[10] = file[11] = '\xff';
  EXPECT_NE(refusal(file).find("a header of at most 65536 bytes"), std::string::npos);
}

// Runs under the address sanitizer in the asan preset: no mutation may read out of bounds.
TEST(Npy, ten_thousand_mutated_headers_never_crash) {
  std::mt19937 random(20261129);
  int accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    const int major = 1 + static_cast<int>(random() % 3);
    std::string file = file_with(good_dict, data_24, major);
    const int mutations = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < mutations && !file.empty(); ++k) {
      const std::size_t at = random() % file.size();
      switch (random() % 4) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file.erase(at, 1 + random() % 5);
          break;
        case 2:
          file.insert(at, 1 + random() % 3, "(){}',:0123456789<>f TF"[random() % 23]);
          break;
        default:
          file.resize(at);
      }
    }
    // A copy of exactly this size, so that a read beyond it is one beyond the allocation.
    const std::vector<char> exact(file.begin(), file.end());
    const auto array = parse_npy(std::string_view(exact.data(), exact.size()), "x.npy");
    if (!array) {
      EXPECT_EQ(array.error().message.rfind("x.npy: byte ", 0), 0u) << array.error().message;
      continue;
    }
    ++accepted;
    std::int64_t elements = 1;
    for (const std::int64_t dimension : array->shape) elements *= dimension;
    EXPECT_EQ(array->elements(), elements);
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 5'000);
}

class NpyFile : public testing::Test {
 protected:
  NpyFile() { std::filesystem::create_directory(directory_); }
  ~NpyFile() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("normd-npy-" + std::to_string(getpid()));
};

TEST_F(NpyFile, a_file_is_written_whole_and_read_back) {
  const NpyArray array{.type = NpyType::uint16, .shape = {2, 2}, .bytes = "abcdefgh"};
  ASSERT_TRUE(write_npy(path("y.npy"), array));
  const Result<NpyArray> back = read_npy(path("y.npy"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->bytes, "abcdefgh");
  const auto files =
      std::filesystem::directory_iterator(std::filesystem::path(path("y.npy")).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);  // no temporary file is left
}

TEST_F(NpyFile, a_missing_file_is_not_found_and_a_place_that_cannot_be_written_is_said) {
  EXPECT_EQ(read_npy(path("none.npy")).error().code, ErrorCode::not_found);
  EXPECT_NE(read_npy(path("none.npy")).error().message.find("none.npy"), std::string::npos);
  const Result<void> written = write_npy(path("none/y.npy"), {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("No such file"), std::string::npos);
}

TEST_F(NpyFile, data_beyond_the_first_64_kib_is_read_too) {
  NpyArray array{.type = NpyType::fp32, .shape = {64, 4096}};
  array.bytes.assign(64 * 4096 * 4, '\x01');
  array.bytes.back() = '\x02';
  ASSERT_TRUE(write_npy(path("x.npy"), array));
  const Result<NpyArray> back = read_npy(path("x.npy"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->bytes, array.bytes);
  std::filesystem::resize_file(path("x.npy"), 200'000);
  EXPECT_NE(read_npy(path("x.npy")).error().message.find("byte 200000"), std::string::npos);
}

}  // namespace
}  // namespace normd
