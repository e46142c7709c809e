// Where memory differs, found on the device.
#include "tuner/worker/byte_comparer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/tuner/worker/test_device.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

class ByteComparerTest : public testing::Test {
 protected:
  void SetUp() override {
    test_device_spec();
    auto device = open_device(test_device);
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
    auto comparer = ByteComparer::open(*device_);
    ASSERT_TRUE(comparer) << comparer.error().message;
    comparer_.emplace(std::move(*comparer));
  }

  // Device memory with these bytes, which begin `offset` bytes on.
  const char* put(const std::vector<char>& bytes, std::size_t offset = 0) {
    auto memory = device_->allocate(offset + bytes.size());
    EXPECT_TRUE(memory);
    char* const begin = static_cast<char*>((*memory)->address()) + offset;
    EXPECT_TRUE(device_->copy_in(begin, bytes.data(), bytes.size()));
    kept_.push_back(std::move(*memory));
    return begin;
  }
  std::optional<std::int64_t> difference(const ByteRows& got, const ByteRows& wanted) {
    const auto found = comparer_->difference(got, wanted);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::nullopt;
  }

  std::unique_ptr<Device> device_;
  std::optional<ByteComparer> comparer_;
  std::vector<std::unique_ptr<Memory>> kept_;
};

std::vector<char> noise(std::size_t bytes) {
  std::mt19937 random(7);
  std::vector<char> values(bytes);
  for (char& value : values) value = static_cast<char>(random());
  return values;
}

TEST_F(ByteComparerTest, the_lowest_pair_that_differs_is_found_wherever_it_lies) {
  // More than one stretch of either step, and a last one that is not full.
  for (const std::size_t bytes :
       {std::size_t{2}, std::size_t{3 * 65536 + 32}, std::size_t{70002}}) {
    const std::vector<char> all = noise(bytes);
    for (const std::size_t offset : {std::size_t{0}, std::size_t{2}}) {
      const char* wanted = put(all, offset);
      EXPECT_EQ(difference({put(all), 1, bytes, 0}, {wanted, 1, bytes, 0}), std::nullopt);
      for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
        std::vector<char> changed = all;
        changed[at] ^= 1;
        changed.back() ^= 2;
        const auto found = difference({put(changed), 1, bytes, 0}, {wanted, 1, bytes, 0});
        EXPECT_EQ(found, static_cast<std::int64_t>(at / 2 * 2)) << bytes << " from " << offset;
      }
    }
  }
}

TEST_F(ByteComparerTest, nan_bits_and_signs_of_zero_are_told_apart) {
  const std::vector<char> nan(64, static_cast<char>(0xff));
  std::vector<char> other = nan;
  other[33] = static_cast<char>(0x7f);
  EXPECT_EQ(difference({put(nan), 1, 64, 0}, {put(nan), 1, 64, 0}), std::nullopt);
  EXPECT_EQ(difference({put(other), 1, 64, 0}, {put(nan), 1, 64, 0}), 32);
  std::vector<char> zero(64, 0);
  std::vector<char> minus = zero;
  minus[1] = static_cast<char>(0x80);
  EXPECT_EQ(difference({put(minus), 1, 64, 0}, {put(zero), 1, 64, 0}), 0);
}

TEST_F(ByteComparerTest, gaps_between_rows_do_not_count) {
  constexpr std::size_t rows = 5;
  const std::vector<char> dense = noise(rows * 48);
  std::vector<char> spaced(rows * 64, 1);
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(&spaced[row * 64], &dense[row * 48], 48);
  }
  const ByteRows wanted{put(dense), rows, 48, 48};
  EXPECT_EQ(difference({put(spaced), rows, 48, 64}, wanted), std::nullopt);
  spaced[3 * 64 + 10] ^= 1;
  EXPECT_EQ(difference({put(spaced), rows, 48, 64}, wanted), 3 * 48 + 10);
}

// By steps of 2 and of 16 bytes; the longest takes the blocks more than one turn.
TEST_F(ByteComparerTest, tiles_are_compared_again_and_again) {
  for (const auto& [tile_bytes, bytes] :
       {std::pair<std::size_t, std::size_t>{1000, 50'010}, {1008, 50'016}, {1000, 8'500'002}}) {
    const std::vector<char> tile = noise(tile_bytes);
    std::vector<char> tiled;
    while (tiled.size() < bytes) tiled.insert(tiled.end(), tile.begin(), tile.end());
    tiled.resize(bytes);
    const char* pattern = put(tile);
    const auto found = [&] {
      const auto answer =
          comparer_->difference_from_tiles(put(tiled), tiled.size(), pattern, tile.size());
      EXPECT_TRUE(answer) << answer.error().message;
      return answer ? *answer : std::nullopt;
    };
    EXPECT_EQ(found(), std::nullopt) << bytes;
    tiled[bytes - 1] ^= 1;
    EXPECT_EQ(found(), static_cast<std::int64_t>(bytes) - 2);
  }
}

}  // namespace
}  // namespace normd
