// Sparse memory over a stand-in for the driver: what it asks for, what it makes of each refusal,
// and that it gives everything back in the order that a driver wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/device/cuda/fake_device_test.h"

namespace normd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t gib = std::size_t{1} << 30;
constexpr int out_of_memory = 2;
constexpr int not_supported = 801;
constexpr int illegal_address = 700;
constexpr int has_virtual_memory = 102;  // the attribute

class SparseMemoryTest : public FakeDeviceTest {
 protected:
  void SetUp() override {
    FakeDeviceTest::SetUp();
    fake_->attributes[has_virtual_memory] = 1;
  }
  // Every test ends with everything given back, once and in order.
  void TearDown() override {
    FakeDeviceTest::TearDown();
    EXPECT_EQ(fake_->addresses.misuse, "");
    EXPECT_EQ(fake_->addresses.reserved_bytes, 0u);
    EXPECT_EQ(fake_->addresses.memories, 0);
    EXPECT_TRUE(fake_->addresses.mapped.empty());
  }
  // The last stretch crosses the border of a page.
  Result<std::unique_ptr<Memory>> allocate() {
    const Stretch stretches[] = {{16, 100}, {16 * gib, 2 * mib}, {32 * gib + 2 * mib - 1, 2}};
    return device_->allocate_sparse(32 * gib + 2 * mib + 1, stretches);
  }
  ErrorCode code_of(const char* function, int result) {
    fake_->results = {{function, result}};
    const auto memory = allocate();
    EXPECT_FALSE(memory) << function;
    fake_->results.clear();
    return memory ? ErrorCode::internal : memory.error().code;
  }
};

TEST_F(SparseMemoryTest, only_the_pages_of_the_stretches_have_memory_and_all_goes_back_in_order) {
  auto memory = allocate();
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_NE((*memory)->address(), nullptr);
  EXPECT_EQ((*memory)->bytes(), 32 * gib + 2 * mib + 1);
  EXPECT_EQ(fake_->addresses.reserved_bytes, 32 * gib + 4 * mib);
  EXPECT_THAT(fake_->addresses.mapped,
              ElementsAre(Pair(0, 2 * mib), Pair(16 * gib, 2 * mib), Pair(32 * gib, 4 * mib)));
  EXPECT_EQ(fake_->calls["cuMemSetAccess"], 3);
  EXPECT_EQ(fake_->addresses.memories, 0) << "what is mapped needs no other owner";
  device_.reset();
  memory->reset();
  EXPECT_EQ(fake_->calls["cuMemUnmap"], 3);
  EXPECT_EQ(fake_->calls["cuMemAddressFree"], 1);
}

TEST_F(SparseMemoryTest, a_gpu_that_has_none_is_asked_for_nothing) {
  fake_->attributes[has_virtual_memory] = 0;
  const auto memory = allocate();
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::unimplemented);
  EXPECT_THAT(memory.error().message, HasSubstr("virtual memory"));
  EXPECT_EQ(fake_->calls.count("cuMemAddressReserve"), 0u);
}

TEST_F(SparseMemoryTest, what_the_driver_refuses_is_unimplemented) {
  for (const char* function : {"cuMemGetAllocationGranularity", "cuMemAddressReserve",
                               "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    EXPECT_EQ(code_of(function, not_supported), ErrorCode::unimplemented) << function;
  }
}

TEST_F(SparseMemoryTest, too_few_addresses_are_unimplemented_and_too_little_memory_is_not) {
  EXPECT_EQ(code_of("cuMemAddressReserve", out_of_memory), ErrorCode::unimplemented);
  EXPECT_EQ(code_of("cuMemCreate", out_of_memory), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of("cuMemMap", out_of_memory), ErrorCode::resource_exhausted);
}

TEST_F(SparseMemoryTest, a_lost_device_stays_unavailable) {
  for (const char* function : {"cuMemAddressReserve", "cuMemCreate", "cuMemSetAccess"}) {
    EXPECT_EQ(code_of(function, illegal_address), ErrorCode::unavailable) << function;
  }
}

}  // namespace
}  // namespace normd
